// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>

#include "gpu/cuda.hpp"
#include "gpu/nccl_api.hpp"
#include "gpu/session.hpp"

namespace perf::gpu {

/// What carries an all-gather: NCCL's kernels, or copy engines (its CTA policy "zero", from 2.28),
/// which need memory of Nccl::allocate on both sides.
enum class Carrier { kernels, copy_engines };

/// A communicator of NCCL's, whose library is loaded at run time.  NCCL's multicast (NVLS) stays
/// off unless NCCL_NVLS_ENABLE is set.
class Nccl : public std::enable_shared_from_this<Nccl> {
 public:
  /// Of the ranks of `comm`, which outlives it, each with its device in use, from the session's
  /// library.  Collective; throws tools::AgreedError with the reason where it cannot be had.
  static std::shared_ptr<Nccl> open(MPI_Comm comm, const Session& session, Carrier carrier);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  std::string version() const;  // "2.28.9"

  /// Memory of the device in use for these calls; for copy engines NCCL's own, registered with the
  /// communicator.  Collective, with equal `bytes`; throws tools::AgreedError where NCCL refuses.
  std::shared_ptr<char[]> allocate(std::size_t bytes) const;

  /// ncclAllGather of `bytes` from each rank; recv holds them by rank.
  void allgather(const void* send, void* recv, std::size_t bytes, cudaStream_t stream) const;
  /// ncclReduceScatter with ncclSum; `count` elements of `dtype` (fp32 or fp64) for each rank.
  void reduce_scatter(const void* send, void* recv, std::size_t count, int dtype,
                      cudaStream_t stream) const;

 private:
  Nccl(MPI_Comm comm, Carrier carrier) : ranks_(comm), carrier_(carrier) {}
  std::string problem(int code, const char* call) const;  // empty: none
  void check(int code, const char* call) const;
  int init(int rank, int ranks, const NcclId& id);
  MPI_Comm ranks_;
  Carrier carrier_;
  NcclApi api_{};
  void* comm_ = nullptr;
};

}  // namespace perf::gpu
