// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/cublas.hpp"
#include "gpu/victim.hpp"

namespace perf::gpu {

struct GemmShape {
  int m, n, k;
  std::string name() const;  // "1536x2816x8192"
};

/// The shape of --beside gemm:MxNxK; else one whose thread blocks (of 128 x 256 elements, as cuBLAS
/// chooses them on a H200) fill the device's multiprocessors exactly once, and 8192 in all
/// directions.
std::vector<GemmShape> gemm_shapes(const std::string& beside);

/// Back-to-back GEMMs of one shape.
class Gemms {
 public:
  Gemms(const Cublas& cublas, const GemmShape& shape);

  static constexpr int count = 200;
  double flops() const;  // of all of them
  Victim& victim() { return *victim_; }

 private:
  GemmShape shape_;
  std::shared_ptr<char[]> a_, b_, c_;
  std::unique_ptr<Victim> victim_;
};

}  // namespace perf::gpu
