// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

// CUDA's own types, for the files that a build with CUDA has.
namespace perf::gpu {

/// Throws std::runtime_error with CUDA's words unless `code` is cudaSuccess.
void check(cudaError_t code, const char* call);

/// An in-order queue of the device in use.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void synchronise() const;

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace perf::gpu
