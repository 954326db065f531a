// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "compute.hpp"

#include <algorithm>
#include <cmath>

namespace perf {
namespace {

constexpr std::size_t cache_elems = 4096;        // 16 KiB
constexpr std::size_t stream_elems = 4 << 20;    // of each of three arrays: 16 MiB
constexpr std::size_t stream_unit_elems = 4096;  // of each of them in a unit

void multiply_add(float* x) {
  for (std::size_t i = 0; i < cache_elems; ++i) x[i] = x[i] * 0.999f + 0.5f;
}

void triad(float* a, const float* b, const float* c) {
  for (std::size_t i = 0; i < stream_unit_elems; ++i) a[i] = b[i] + 0.5f * c[i];
}

}  // namespace

Compute::Compute(Kind kind, double slice_us)
    : kind_(kind), name_(kind == Kind::cache ? "cache" : "stream") {
  const std::size_t elems = kind == Kind::cache ? cache_elems : 3 * stream_elems;
  data_ = std::shared_ptr<float[]>(new float[elems]);
  std::fill_n(data_.get(), elems, 1.0f);
  double unit_s = 1;  // the least of several: other ranks and the first pass only lengthen it
  for (int trial = 0; trial < 5; ++trial) {
    constexpr int units = 200;
    const double begin = MPI_Wtime();
    for (int k = 0; k < units; ++k) unit();
    unit_s = std::min(unit_s, (MPI_Wtime() - begin) / units);
  }
  units_per_slice_ = std::max(1, static_cast<int>(slice_us * 1e-6 / std::max(unit_s, 1e-9)));
}

void Compute::unit() {
  float* const x = data_.get();
  if (kind_ == Kind::cache) return multiply_add(x);
  triad(x + at_, x + stream_elems + at_, x + 2 * stream_elems + at_);
  at_ = (at_ + stream_unit_elems) % stream_elems;
}

void Compute::slice() {
  for (int k = 0; k < units_per_slice_; ++k) unit();
}

int Compute::slices_for(MPI_Comm comm, double seconds) {
  int slices = 4;
  for (int pass = 0; pass < 4; ++pass) {  // each nearer to `seconds`, and so a better sample
    MPI_Barrier(comm);
    const double begin = MPI_Wtime();
    for (int k = 0; k < slices; ++k) slice();
    double taken = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_DOUBLE, MPI_MAX, comm);
    const double wanted = std::round(slices * seconds / std::max(taken, 1e-9));
    slices = static_cast<int>(std::clamp(wanted, 1.0, 1e8));
  }
  return slices;
}

}  // namespace perf
