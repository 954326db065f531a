// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/cublas.hpp"

namespace perf::gpu {

struct GemmShape {
  int m, n, k;
  std::string name() const;  // "1536x2816x8192"
};

/// The shape of --beside gemm:MxNxK; else one whose thread blocks (of 128 x 256 elements, as cuBLAS
/// chooses them on a H200) fill the device's multiprocessors exactly once, and 8192 in all
/// directions.
std::vector<GemmShape> gemm_shapes(const std::string& beside);

/// Back-to-back GEMMs of one shape as one graph on a stream of its own.
class Victim {
 public:
  Victim(const Cublas& cublas, const GemmShape& shape);
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  static constexpr int gemms = 200;
  double flops() const;  // of all of them
  void launch();
  bool running();
  double seconds();  // of the last launch, from its begin to its end on the device; waits for it

 private:
  GemmShape shape_;
  std::shared_ptr<char[]> a_, b_, c_;
  Stream stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace perf::gpu
