// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>

#include "gpu/cuda.hpp"
#include "gpu/session.hpp"

namespace perf::gpu {

/// A communicator of NCCL's, whose library is loaded at run time.  NCCL's multicast (NVLS) stays
/// off unless NCCL_NVLS_ENABLE is set.
class Nccl {
 public:
  /// Of the ranks of `comm`, each with its device in use, from the session's library.
  /// Collective; throws tools::AgreedError with the reason where NCCL cannot be had.
  static std::shared_ptr<Nccl> open(MPI_Comm comm, const Session& session);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  std::string version() const;  // "2.28.9"

  /// ncclAllGather of `bytes` from each rank; recv holds them by rank.
  void allgather(const void* send, void* recv, std::size_t bytes, cudaStream_t stream) const;
  /// ncclReduceScatter with ncclSum; `count` elements of `dtype` (fp32 or fp64) for each rank.
  void reduce_scatter(const void* send, void* recv, std::size_t count, int dtype,
                      cudaStream_t stream) const;

 private:
  struct Api;
  Nccl() = default;
  void check(int code, const char* call) const;
  std::string load(const std::string& file);  // or why it failed
  std::shared_ptr<const Api> api_;
  void* comm_ = nullptr;
  int version_ = 0;
};

}  // namespace perf::gpu
