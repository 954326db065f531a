// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Compiled with -fmad=false: element by element the operations are those of the host's loops
// (backend/host/kernel_loops.hpp), in the same order, so the bits are equal.
#include "backend/cuda/elements.cuh"
#include "backend/cuda/kernels.hpp"

namespace tide::gpu {
namespace {

constexpr int threads = 512;

template <class Unit>
__device__ void copy_units(const LandingPiece& piece, void* const* dst, uint64_t first,
                           uint64_t end) {
  constexpr int ahead = 4;
  const uint64_t head =
      (sizeof(Unit) - reinterpret_cast<uintptr_t>(piece.src) % sizeof(Unit)) % sizeof(Unit);
  const char* src = static_cast<const char*>(piece.src);
  if (first == 0 && threadIdx.x < head && threadIdx.x < piece.elems)
    for (uint64_t d = 0; d < piece.dsts; d++)
      static_cast<char*>(dst[d])[threadIdx.x] = src[threadIdx.x];
  const uint64_t units = piece.elems > head ? (piece.elems - head) / sizeof(Unit) : 0;
  const auto* from = reinterpret_cast<const Unit*>(src + head);
  const uint64_t last = min(units, end / sizeof(Unit));
  for (uint64_t i = first / sizeof(Unit) + threadIdx.x; i < last; i += ahead * threads) {
    Unit unit[ahead];
#pragma unroll
    for (int k = 0; k < ahead; k++)
      if (i + k * threads < last) unit[k] = from[i + k * threads];
    for (uint64_t d = 0; d < piece.dsts; d++) {
      auto* to = reinterpret_cast<Unit*>(static_cast<char*>(dst[d]) + head);
#pragma unroll
      for (int k = 0; k < ahead; k++)
        if (i + k * threads < last) to[i + k * threads] = unit[k];
    }
  }
  const uint64_t done = head + units * sizeof(Unit);
  if (end >= piece.elems && done < piece.elems && threadIdx.x < piece.elems - done)
    for (uint64_t d = 0; d < piece.dsts; d++)
      static_cast<char*>(dst[d])[done + threadIdx.x] = src[done + threadIdx.x];
}

template <class From, class To>
__device__ void convert_elem(const LandingPiece& piece, void* const* dst, uint64_t i) {
  const To value = Rounded<To>::of(get<From>(static_cast<const From*>(piece.src) + i));
  for (uint64_t d = 0; d < piece.dsts; d++) put(static_cast<To*>(dst[d]) + i, value);
}

// As copy_units, where vectors of the source and of all places begin at the same elements.
template <class From, class To>
__device__ void convert_vectors(const LandingPiece& piece, void* const* dst, uint64_t first,
                                uint64_t end) {
  constexpr int n = Vector<From>::size, ahead = 4;
  struct alignas(n * sizeof(To)) Out {
    To value[n];
  };
  const uint64_t head = (16 - reinterpret_cast<uintptr_t>(piece.src) % 16) % 16 / sizeof(From);
  if (first == 0 && threadIdx.x < head && threadIdx.x < piece.elems)
    convert_elem<From, To>(piece, dst, threadIdx.x);
  const uint64_t units = piece.elems > head ? (piece.elems - head) / n : 0;
  const auto* from =
      reinterpret_cast<const Vector<From>*>(static_cast<const From*>(piece.src) + head);
  const uint64_t last = end >= piece.elems ? units : min(units, end / n);
  for (uint64_t i = first / n + threadIdx.x; i < last; i += ahead * threads) {
    Vector<From> in[ahead];
    Out out[ahead];
#pragma unroll
    for (int k = 0; k < ahead; k++)
      if (i + k * threads < last) in[k] = from[i + k * threads];
#pragma unroll
    for (int k = 0; k < ahead; k++)
#pragma unroll
      for (int j = 0; j < n; j++) out[k].value[j] = Rounded<To>::of(in[k].value[j]);
    for (uint64_t d = 0; d < piece.dsts; d++) {
      auto* to = reinterpret_cast<Out*>(static_cast<To*>(dst[d]) + head);
#pragma unroll
      for (int k = 0; k < ahead; k++)
        if (i + k * threads < last) to[i + k * threads] = out[k];
    }
  }
  const uint64_t done = head + units * n;
  if (end >= piece.elems && done + threadIdx.x < piece.elems)
    convert_elem<From, To>(piece, dst, done + threadIdx.x);
}

template <class From, class To>
__device__ void convert_elems(const LandingPiece& piece, void* const* dst, uint64_t first,
                              uint64_t end) {
  if (piece.width == 16) return convert_vectors<From, To>(piece, dst, first, end);
  for (uint64_t i = first + threadIdx.x; i < end; i += threads)
    convert_elem<From, To>(piece, dst, i);
}

template <class From>
__device__ void convert_from(const LandingPiece& piece, void* const* dst, uint64_t first,
                             uint64_t end) {
  if (piece.to == Dtype::bf16)
    convert_elems<From, __nv_bfloat16>(piece, dst, first, end);
  else if (piece.to == Dtype::fp16)
    convert_elems<From, __half>(piece, dst, first, end);
  else
    convert_elems<From, float>(piece, dst, first, end);
}

__device__ uint64_t rounded_bytes(Dtype to) { return to == Dtype::fp32 ? 4 : 2; }

__global__ void __launch_bounds__(threads) landing(LandingProgram program, size_t first_tile) {
  const Tile tile = program.tiles[first_tile + blockIdx.x];
  const LandingPiece piece = program.pieces[tile.piece];
  void* const* dst = program.dst + piece.first_dst;
  if (piece.from == piece.to) {
    const uint64_t first = tile.index * landing_tile_bytes;
    uint64_t end = first + landing_tile_bytes;
    if (end >= piece.elems) end = piece.elems + 16;  // the last tile takes what is left
    if (piece.width == 16) return copy_units<uint4>(piece, dst, first, end);
    if (piece.width == 8) return copy_units<uint2>(piece, dst, first, end);
    if (piece.width == 4) return copy_units<uint32_t>(piece, dst, first, end);
    if (piece.width == 2) return copy_units<uint16_t>(piece, dst, first, end);
    return copy_units<uint8_t>(piece, dst, first, end);
  }
  const uint64_t step = landing_tile_bytes / rounded_bytes(piece.to), first = tile.index * step;
  const uint64_t end = min(first + step, piece.elems);
  if (piece.from == Dtype::fp64)
    convert_from<double>(piece, dst, first, end);
  else
    convert_from<float>(piece, dst, first, end);
}

}  // namespace

void launch(cudaStream_t stream, const LandingProgram& program, size_t first, int count) {
  landing<<<static_cast<unsigned>(count), threads, 0, stream>>>(program, first);
}

void load_landing_kernel() {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(landing));
}

}  // namespace tide::gpu
