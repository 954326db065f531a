// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/resident_kernel.hpp"

// Vectors of 16 bytes, eight loads in flight in each thread; element by element where a row is not
// aligned to them.
namespace perf::gpu {
namespace {

constexpr int threads = 512, ahead = 8;

template <class T>
struct alignas(16) Vector {
  static constexpr int n = 16 / sizeof(T);
  T value[n];
};

template <class T>
__global__ void __launch_bounds__(threads, 1)
    add_rows(ResidentRows in, T* dst, std::uint64_t count) {
  const std::uint64_t stride = std::uint64_t{threads} * gridDim.x;
  const std::uint64_t first = std::uint64_t{threads} * blockIdx.x + threadIdx.x;
  auto misaligned = reinterpret_cast<std::uintptr_t>(dst);
  for (int r = 0; r < in.rows; r++) misaligned |= reinterpret_cast<std::uintptr_t>(in.row[r]);
  const std::uint64_t vectors = misaligned % 16 == 0 ? count / Vector<T>::n : 0;
  for (std::uint64_t i = first; i < vectors; i += ahead * stride) {
    Vector<T> sum[ahead];
    for (int r = 0; r < in.rows; r++) {
      const auto* row = static_cast<const Vector<T>*>(in.row[r]);
      Vector<T> next[ahead];
#pragma unroll
      for (int k = 0; k < ahead; k++)
        if (i + k * stride < vectors) next[k] = row[i + k * stride];
#pragma unroll
      for (int k = 0; k < ahead; k++)
#pragma unroll
        for (int j = 0; j < Vector<T>::n; j++)
          sum[k].value[j] = r == 0 ? next[k].value[j] : sum[k].value[j] + next[k].value[j];
    }
#pragma unroll
    for (int k = 0; k < ahead; k++)
      if (i + k * stride < vectors) reinterpret_cast<Vector<T>*>(dst)[i + k * stride] = sum[k];
  }
  for (std::uint64_t i = vectors * Vector<T>::n + first; i < count; i += stride) {
    T sum = static_cast<const T*>(in.row[0])[i];
    for (int r = 1; r < in.rows; r++) sum += static_cast<const T*>(in.row[r])[i];
    dst[i] = sum;
  }
}

}  // namespace

cudaError_t launch_resident(const ResidentRows& rows, void* dst, std::uint64_t count, bool wide,
                            cudaStream_t stream) {
  if (wide)
    add_rows<<<resident_blocks, threads, 0, stream>>>(rows, static_cast<double*>(dst), count);
  else
    add_rows<<<resident_blocks, threads, 0, stream>>>(rows, static_cast<float*>(dst), count);
  return cudaGetLastError();
}

}  // namespace perf::gpu
