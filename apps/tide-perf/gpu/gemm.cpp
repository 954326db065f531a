// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/gemm.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include "gpu/device.hpp"

namespace perf::gpu {
namespace {

constexpr int tile_m = 128, tile_n = 256;

// 132 = 12 x 11 tiles: the factors nearest to each other.
GemmShape one_wave() {
  int device = 0, blocks = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  int rows = 1;
  for (int f = 1; f * f <= blocks; ++f)
    if (blocks % f == 0) rows = f;
  return {blocks / rows * tile_m, rows * tile_n, 8192};
}

// Small numbers of both signs: a GEMM of zeros or NaNs takes less power, and so runs faster.
std::shared_ptr<char[]> matrix(std::int64_t elems) {
  std::vector<std::uint16_t> values(static_cast<std::size_t>(elems));
  std::uint32_t state = 12345;
  for (std::uint16_t& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<std::uint16_t>(0x3c00u | (state >> 16 & 0x83ffu));  // 2^-7 <= |x| < 2
  }
  std::shared_ptr<char[]> place = allocate(values.size() * 2);
  upload(place.get(), values.data(), values.size() * 2);
  return place;
}

}  // namespace

std::string GemmShape::name() const { return fmt::format("{}x{}x{}", m, n, k); }

std::vector<GemmShape> gemm_shapes(const std::string& beside) {
  GemmShape asked{};
  if (std::sscanf(beside.c_str(), "gemm:%dx%dx%d", &asked.m, &asked.n, &asked.k) == 3)
    return {asked};
  return {one_wave(), {8192, 8192, 8192}};
}

Gemms::Gemms(const Cublas& cublas, const GemmShape& shape) : shape_(shape) {
  const auto elems = [](int x, int y) { return static_cast<std::int64_t>(x) * y; };
  a_ = matrix(elems(shape.m, shape.k));
  b_ = matrix(elems(shape.k, shape.n));
  c_ = allocate(static_cast<std::size_t>(elems(shape.m, shape.n)) * 2);
  const Cublas::Gemm gemm{shape.m, shape.n, shape.k, a_.get(), b_.get(), c_.get()};
  const Stream once;
  cublas.issue(gemm, once);  // what is loaded at first use is loaded before the recording
  once.synchronise();
  victim_ = std::make_unique<Victim>([&](cudaStream_t stream) {
    for (int k = 0; k < count; ++k) cublas.issue(gemm, stream);
  });
}

double Gemms::flops() const { return 2.0 * count * shape_.m * shape_.n * shape_.k; }

}  // namespace perf::gpu
