// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Sums that NVSwitch makes: one load from a multicast address brings the sum of what stands behind
// it on all ranks, added in fp32 in an order that nobody promises; of 16-bit types a result of 16
// bits. Only builds with TIDE_WITH_MULTICAST=ON have this file; it has not run on hardware.
#include "backend/cuda/elements.cuh"
#include "backend/cuda/kernels.hpp"

namespace tide::gpu {
namespace {

constexpr int threads = 512;

template <class In>
struct alignas(16) Words {  // 16 bytes of sums
  uint32_t word[4];
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define TIDE_SWITCH_LOAD(type, operation)                                                      \
  __device__ Words<type> switch_load(const type* at) {                                         \
    Words<type> w;                                                                             \
    asm volatile("multimem.ld_reduce.relaxed.sys.global." operation " {%0, %1, %2, %3}, [%4];" \
                 : "=r"(w.word[0]), "=r"(w.word[1]), "=r"(w.word[2]), "=r"(w.word[3])          \
                 : "l"(at)                                                                     \
                 : "memory");                                                                  \
    return w;                                                                                  \
  }
TIDE_SWITCH_LOAD(__nv_bfloat16, "add.acc::f32.v4.bf16x2")
TIDE_SWITCH_LOAD(__half, "add.acc::f32.v4.f16x2")
#undef TIDE_SWITCH_LOAD
__device__ Words<float> switch_load(const float* at) {
  float sum[4];
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
               : "l"(at)
               : "memory");
  Words<float> w;
#pragma unroll
  for (int k = 0; k < 4; k++) w.word[k] = __float_as_uint(sum[k]);
  return w;
}
#else  // devices without multicast: their attribute is 0, and no call comes here
template <class In>
__device__ Words<In> switch_load(const In*) {
  __trap();
  return {};
}
#endif

// A tile of a piece whose one row is a multicast address of 16 bytes, as its length is.
template <class In, class Out>
__global__ void __launch_bounds__(threads)
    switch_summing(SumProgram program, Arithmetic arithmetic, size_t first_tile) {
  const Tile tile = program.tiles[first_tile + blockIdx.x];
  const SumPiece piece = program.pieces[tile.piece];
  const In* row = static_cast<const In*>(program.rows[piece.first_row]);
  const auto* base = static_cast<const float*>(piece.base);
  constexpr int n = Vector<In>::size;
  const uint64_t step = sum_tile_elems / n, first = tile.index * step;
  const uint64_t end = min(first + step, piece.elems / n);
  for (uint64_t i = first + threadIdx.x; i < end; i += threads) {
    const uint64_t at = i * n;
    const Words<In> words = switch_load(row + at);
    const auto& sum = reinterpret_cast<const Vector<In>&>(words);
    float total[n];
#pragma unroll
    for (int k = 0; k < n; k++)
      total[k] = (base ? get<float>(base + at + k) : -0.0f) + wide<float>(sum.value[k]);
    store_sum<float, Out, n>({piece.dst, piece.final, piece.wide}, arithmetic,
                             Factors<float>(arithmetic), at, total);
  }
}

using SwitchKernel = void (*)(SumProgram, Arithmetic, size_t);

template <class In>
SwitchKernel with_out(Dtype out) {
  if (out == Dtype::bf16) return switch_summing<In, __nv_bfloat16>;
  if (out == Dtype::fp16) return switch_summing<In, __half>;
  return switch_summing<In, float>;
}

// Of what switch_adds() lets through.
SwitchKernel kernel_for(Dtype in, Dtype out) {
  if (in == Dtype::bf16) return switch_summing<__nv_bfloat16, __nv_bfloat16>;
  if (in == Dtype::fp16) return switch_summing<__half, __half>;
  return with_out<float>(out);
}

}  // namespace

void launch_switched(cudaStream_t stream, const SumProgram& program, const Arithmetic& arithmetic,
                     size_t first, int count) {
  const SwitchKernel kernel = kernel_for(program.in, program.out);
  kernel<<<static_cast<unsigned>(count), threads, 0, stream>>>(program, arithmetic, first);
}

void load_switch_kernels() {
  cudaFuncAttributes attributes;
  for (Dtype in : {Dtype::bf16, Dtype::fp16, Dtype::fp32})
    for (Dtype out : {Dtype::bf16, Dtype::fp16, Dtype::fp32})
      cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel_for(in, out)));
}

}  // namespace tide::gpu
