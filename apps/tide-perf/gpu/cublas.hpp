// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "gpu/cuda.hpp"

namespace perf::gpu {

/// cuBLAS, loaded at run time, for the device in use.
class Cublas {
 public:
  /// `library`: its file.  Throws std::runtime_error with the reason and the remedy.
  explicit Cublas(const std::string& library);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  struct Gemm {  // c (m x n) = a (m x k) b (k x n), bf16 by columns, sums in fp32
    int m, n, k;
    const void *a, *b;
    void* c;
  };
  void issue(const Gemm& gemm, cudaStream_t stream) const;

 private:
  struct Api;
  std::unique_ptr<const Api> api_;
  void* handle_ = nullptr;
  std::shared_ptr<char[]> workspace_;
};

}  // namespace perf::gpu
