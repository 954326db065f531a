// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Compiled with -fmad=false: element by element the operations are those of the host's loops
// (backend/host/kernel_loops.hpp), in the same order, so the bits are equal.
#include "backend/cuda/elements.cuh"
#include "backend/cuda/kernels.hpp"

namespace tide::gpu {
namespace {

constexpr int threads = 512;

template <class In, class Acc, class Out>
struct Adder {
  const SumProgram& program;
  const SumPiece& piece;
  const void* const* rows;
  const Arithmetic& arithmetic;
  Factors<Acc> factors;

  // Elements [at, at + n) and as many behind each multiple of `step` elements from there, `live`
  // times, at most `ahead`: a thread has that many loads of a row under way at once.
  template <int n, int ahead>
  __device__ void add(uint64_t at, uint64_t step, int live) const {
    Acc total[ahead][n], group[ahead][n];
#pragma unroll
    for (int u = 0; u < ahead; u++) begin<n>(at + u * step, u < live, total[u]);
    int r = 0;
    for (int g = 0; g < program.group_count; g++) {
      const int end = r + program.groups[g];
      if (r == end) continue;
      load<n, ahead>(rows[r++], at, step, live, group);
#pragma unroll 1
      for (; r < end; r++) {
        Acc row[ahead][n];
        load<n, ahead>(rows[r], at, step, live, row);
#pragma unroll
        for (int u = 0; u < ahead; u++)
#pragma unroll
          for (int k = 0; k < n; k++) group[u][k] = group[u][k] + row[u][k];
      }
#pragma unroll
      for (int u = 0; u < ahead; u++)
#pragma unroll
        for (int k = 0; k < n; k++) total[u][k] = total[u][k] + group[u][k];
    }
#pragma unroll
    for (int u = 0; u < ahead; u++)
      if (u < live) finish<n>(at + u * step, total[u]);
  }

  template <int n>
  __device__ void begin(uint64_t at, bool live, Acc (&total)[n]) const {
#pragma unroll
    for (int k = 0; k < n; k++)
      total[k] =
          piece.base && live ? get<Acc>(static_cast<const Acc*>(piece.base) + at + k) : Acc(-0.0);
  }

  template <int n>
  __device__ void finish(uint64_t at, Acc (&total)[n]) const {
    store_sum<Acc, Out, n>({piece.dst, piece.final, piece.wide}, arithmetic, factors, at, total);
  }

  template <int n, int ahead>
  __device__ void load(const void* row, uint64_t at, uint64_t step, int live,
                       Acc (&to)[ahead][n]) const {
#pragma unroll
    for (int u = 0; u < ahead; u++) load<n>(u < live ? row : nullptr, at + u * step, to[u]);
  }

  template <int n>
  __device__ void load(const void* row, uint64_t at, Acc (&to)[n]) const {
    if (!row) {
#pragma unroll
      for (int k = 0; k < n; k++) to[k] = Acc(-0.0);
      return;
    }
    const In* from = static_cast<const In*>(row) + at;
    if constexpr (n == Vector<In>::size && n > 1) {
      const Vector<In> v = *reinterpret_cast<const Vector<In>*>(from);
#pragma unroll
      for (int k = 0; k < n; k++) to[k] = wide<Acc>(v.value[k]);
    } else {
#pragma unroll
      for (int k = 0; k < n; k++) to[k] = wide<Acc>(get<In>(from + k));
    }
  }
};

template <class In, class Acc, class Out>
__global__ void __launch_bounds__(threads)
    summing(SumProgram program, Arithmetic arithmetic, size_t first_tile) {
  const Tile tile = program.tiles[first_tile + blockIdx.x];
  const SumPiece piece = program.pieces[tile.piece];
  const Adder<In, Acc, Out> adder{program, piece, program.rows + piece.first_row, arithmetic,
                                  Factors<Acc>(arithmetic)};
  constexpr int n = Vector<In>::size;
  if (!piece.vectors) {
    const uint64_t first = tile.index * sum_tile_elems;
    const uint64_t end = min(first + sum_tile_elems, piece.elems);
    for (uint64_t i = first + threadIdx.x; i < end; i += threads) adder.template add<1, 1>(i, 0, 1);
    return;
  }
  const uint64_t head = min(uint64_t{piece.head}, piece.elems);
  const uint64_t vectors = (piece.elems - head) / n, step = sum_tile_elems / n;
  const uint64_t first = tile.index * step;
  const uint64_t end = min(first + step, vectors);
  constexpr int ahead = 4;
  for (uint64_t i = first + threadIdx.x; i < end; i += ahead * threads) {
    const int live = static_cast<int>(min(uint64_t{ahead}, (end - i + threads - 1) / threads));
    adder.template add<n, ahead>(head + i * n, uint64_t{threads} * n, live);
  }
  if (tile.index == 0 && threadIdx.x < head) adder.template add<1, 1>(threadIdx.x, 0, 1);
  const uint64_t tail = head + vectors * n;
  const bool last = (uint64_t{tile.index} + 1) * sum_tile_elems >= piece.elems;
  if (last && tail + threadIdx.x < piece.elems) adder.template add<1, 1>(tail + threadIdx.x, 0, 1);
}

}  // namespace

void launch(cudaStream_t stream, const SumProgram& program, const Arithmetic& arithmetic,
            size_t first, int count) {
  const auto kernel =
      for_types(program.in, program.acc, program.out, [](auto in, auto acc, auto out) {
        return &summing<decltype(in), decltype(acc), decltype(out)>;
      });
  kernel<<<static_cast<unsigned>(count), threads, 0, stream>>>(program, arithmetic, first);
}

int vector_elems(Dtype in) { return 16 / static_cast<int>(bytes_of(in)); }

void load_sum_kernels() {
  for_all_types([](auto in, auto acc, auto out) {
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, summing<decltype(in), decltype(acc), decltype(out)>);
  });
}

}  // namespace tide::gpu
