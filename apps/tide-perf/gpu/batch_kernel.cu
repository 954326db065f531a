// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "gpu/batch_kernel.hpp"

// One block a tile.  Eight elements at a time by vectors of 16 bytes where both sides are aligned,
// four such loads in flight in each thread; element by element where they are not.
namespace perf::gpu {
namespace {

constexpr int threads = 256;

template <class From, class To>
struct Cast {
  static __device__ To of(From x) { return static_cast<To>(static_cast<double>(x)); }
};
template <class T>
struct Cast<T, T> {
  static __device__ T of(T x) { return x; }
};
template <>
struct Cast<__nv_bfloat16, float> {
  static __device__ float of(__nv_bfloat16 x) { return __bfloat162float(x); }
};
template <>
struct Cast<__half, float> {
  static __device__ float of(__half x) { return __half2float(x); }
};
template <>
struct Cast<float, __nv_bfloat16> {
  static __device__ __nv_bfloat16 of(float x) { return __float2bfloat16_rn(x); }
};
template <>
struct Cast<float, __half> {
  static __device__ __half of(float x) { return __float2half_rn(x); }
};
template <>
struct Cast<__nv_bfloat16, double> {
  static __device__ double of(__nv_bfloat16 x) { return __bfloat162float(x); }
};
template <>
struct Cast<__half, double> {
  static __device__ double of(__half x) { return __half2float(x); }
};
template <>
struct Cast<double, __nv_bfloat16> {
  static __device__ __nv_bfloat16 of(double x) { return __double2bfloat16(x); }
};
template <>
struct Cast<double, __half> {
  static __device__ __half of(double x) { return __double2half(x); }
};

constexpr __host__ __device__ int smaller(int a, int b) { return a < b ? a : b; }

template <class T, int n>
struct alignas(smaller(16, n* int(sizeof(T)))) Vector {
  T value[n];
};

template <class From, class To>
__device__ void run_tile(const Piece& piece, std::uint64_t first, std::uint64_t end) {
  constexpr int narrow = smaller(sizeof(From), sizeof(To));
  constexpr int n = narrow < 16 ? 16 / narrow : 1;  // elements of a vector
  constexpr int ahead = sizeof(From) * n > 32 ? 2 : 4;
  const auto* src = static_cast<const From*>(piece.src);
  auto* dst = static_cast<To*>(piece.dst);
  const std::uint64_t real = piece.elems < end ? piece.elems : end;
  std::uint64_t done = first;
  const auto misaligned =
      reinterpret_cast<std::uintptr_t>(src + first) | reinterpret_cast<std::uintptr_t>(dst + first);
  if (misaligned % 16 == 0 && real > first) {
    const auto* from = reinterpret_cast<const Vector<From, n>*>(src + first);
    auto* to = reinterpret_cast<Vector<To, n>*>(dst + first);
    const std::uint64_t vectors = (real - first) / n;
    for (std::uint64_t i = threadIdx.x; i < vectors; i += ahead * threads) {
      Vector<From, n> in[ahead];
#pragma unroll
      for (int k = 0; k < ahead; k++)
        if (i + k * threads < vectors) in[k] = from[i + k * threads];
#pragma unroll
      for (int k = 0; k < ahead; k++) {
        Vector<To, n> out;
#pragma unroll
        for (int j = 0; j < n; j++) out.value[j] = Cast<From, To>::of(in[k].value[j]);
        if (i + k * threads < vectors) to[i + k * threads] = out;
      }
    }
    done += vectors * n;
  }
  for (std::uint64_t i = done + threadIdx.x; i < real; i += threads)
    dst[i] = Cast<From, To>::of(src[i]);
  const std::uint64_t zeros = first > piece.elems ? first : piece.elems;
  for (std::uint64_t i = zeros + threadIdx.x; i < end; i += threads) dst[i] = To{};
}

template <class From>
__device__ void run_from(const Piece& piece, std::uint64_t first, std::uint64_t end) {
  switch (piece.to) {
    case bf16:
      return run_tile<From, __nv_bfloat16>(piece, first, end);
    case fp16:
      return run_tile<From, __half>(piece, first, end);
    case fp32:
      return run_tile<From, float>(piece, first, end);
    default:
      return run_tile<From, double>(piece, first, end);
  }
}

__host__ __device__ std::uint64_t bytes_of(Element e) {
  switch (e) {
    case element_1:
      return 1;
    case element_4:
    case fp32:
      return 4;
    case element_8:
    case fp64:
      return 8;
    case element_16:
      return 16;
    default:
      return 2;
  }
}

__global__ void __launch_bounds__(threads) run_batch(const Piece* pieces, const Tile* tiles) {
  const Tile tile = tiles[blockIdx.x];
  const Piece piece = pieces[tile.piece];
  const std::uint64_t wide =
      bytes_of(piece.from) > bytes_of(piece.to) ? bytes_of(piece.from) : bytes_of(piece.to);
  const std::uint64_t last = tile.first + tile_bytes / wide;
  const std::uint64_t end = last < piece.padded ? last : piece.padded;
  switch (piece.from) {
    case element_1:
      return run_tile<unsigned char, unsigned char>(piece, tile.first, end);
    case element_2:
      return run_tile<unsigned short, unsigned short>(piece, tile.first, end);
    case element_4:
      return run_tile<unsigned, unsigned>(piece, tile.first, end);
    case element_8:
      return run_tile<uint2, uint2>(piece, tile.first, end);
    case element_16:
      return run_tile<uint4, uint4>(piece, tile.first, end);
    case bf16:
      return run_from<__nv_bfloat16>(piece, tile.first, end);
    case fp16:
      return run_from<__half>(piece, tile.first, end);
    case fp32:
      return run_from<float>(piece, tile.first, end);
    case fp64:
      return run_from<double>(piece, tile.first, end);
  }
}

}  // namespace

cudaError_t launch_batch(const Piece* pieces, const Tile* tiles, unsigned count,
                         cudaStream_t stream) {
  if (count > 0) run_batch<<<count, threads, 0, stream>>>(pieces, tiles);
  return cudaGetLastError();
}

}  // namespace perf::gpu
