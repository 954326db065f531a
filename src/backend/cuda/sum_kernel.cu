// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Compiled with -fmad=false: element by element the operations are those of the host's loops
// (backend/host/kernel_loops.hpp), in the same order, so the bits are equal.
#include "backend/cuda/bulk.cuh"
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
    store_sum<Acc, Out, n>(piece, arithmetic, factors, at, total);
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

// Slices of the rows in the order in which they are added: of each run of elements, row by row.
struct RowSlices {
  const void* const* rows;
  int row_count;
  uint64_t head_bytes, at, end;  // the latter two in vectors of 16 bytes
  int row;
  __device__ bool operator()(const void*& from, uint32_t& bytes) {
    constexpr uint64_t vectors = slice_bytes / 16;
    for (; at < end; at += vectors, row = 0)
      while (row < row_count) {
        const auto* start = static_cast<const char*>(rows[row++]);
        if (!start) continue;
        from = start + head_bytes + at * 16;
        bytes = static_cast<uint32_t>(min(vectors, end - at) * 16);
        return true;
      }
    return false;
  }
};

// A part of a slice: so many elements that their sums fill a store.
template <class In, class Acc>
struct alignas(16 / sizeof(Acc) * sizeof(In)) Share {
  static constexpr int size = 16 / sizeof(Acc);
  In value[size];
};

// Adder::add for vectors [first, end), which come by a ring.  plain: there is one group of rows,
// none of them absent, and no base; that the sum of what is not there is -0 then changes nothing.
template <bool plain, class In, class Acc, class Out>
__device__ void add_by_ring(const Adder<In, Acc, Out>& adder, uint64_t head, uint64_t first,
                            uint64_t end) {
  using Mine = Share<In, Acc>;
  constexpr int n = Mine::size, in_vector = Vector<In>::size / n, vectors = slice_bytes / 16,
                each = vectors * in_vector / threads;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ Barrier full[ring_slots], empty[ring_slots];
  RowSlices slices{adder.rows, adder.program.row_count, head * sizeof(In), first, end, 0};
  Ring<RowSlices> ring(memory, full, empty, slices);
  for (uint64_t at = first; at < end; at += vectors) {
    const int live = static_cast<int>(min(uint64_t{vectors}, end - at)) * in_vector;
    const uint64_t elem = head + at * Vector<In>::size;
    Acc total[each][n];
    const auto place = [&](int u) { return u * threads + static_cast<int>(threadIdx.x); };
    // Adds the next slice, or puts it in the place of the sum.
    const auto take = [&](Acc(&sum)[each][n], bool put) {
      const auto* slice = reinterpret_cast<const Mine*>(ring.take());
      Mine mine[each];
#pragma unroll
      for (int u = 0; u < each; u++)
        if (place(u) < live) mine[u] = slice[place(u)];
      ring.leave();
#pragma unroll
      for (int u = 0; u < each; u++)
#pragma unroll
        for (int k = 0; k < n; k++) {
          const Acc row = wide<Acc>(mine[u].value[k]);
          sum[u][k] = put ? row : sum[u][k] + row;
        }
    };
    if constexpr (plain) {
      take(total, true);
#pragma unroll 1
      for (int r = 1; r < adder.program.row_count; r++) take(total, false);
    } else {
#pragma unroll
      for (int u = 0; u < each; u++)
        adder.template begin<n>(elem + static_cast<uint64_t>(place(u)) * n, place(u) < live,
                                total[u]);
      int r = 0;
      for (int g = 0; g < adder.program.group_count; g++) {
        const int stop = r + adder.program.groups[g];
        if (r == stop) continue;
        Acc group[each][n];
        bool none = true;
#pragma unroll 1
        for (; r < stop; r++) {
          if (!adder.rows[r]) continue;
          take(group, none);
          none = false;
        }
#pragma unroll
        for (int u = 0; u < each; u++)
#pragma unroll
          for (int k = 0; k < n; k++) total[u][k] = total[u][k] + (none ? Acc(-0.0) : group[u][k]);
      }
    }
#pragma unroll
    for (int u = 0; u < each; u++)
      if (place(u) < live)
        adder.template finish<n>(elem + static_cast<uint64_t>(place(u)) * n, total[u]);
  }
}

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
  if (piece.bulk && piece.plain)
    add_by_ring<true>(adder, head, first, end);
  else if (piece.bulk)
    add_by_ring<false>(adder, head, first, end);
  else
    for (uint64_t i = first + threadIdx.x; i < end; i += ahead * threads) {
      const int live = static_cast<int>(min(uint64_t{ahead}, (end - i + threads - 1) / threads));
      adder.template add<n, ahead>(head + i * n, uint64_t{threads} * n, live);
    }
  if (tile.index == 0 && threadIdx.x < head) adder.template add<1, 1>(threadIdx.x, 0, 1);
  const uint64_t tail = head + vectors * n;
  const bool last = (uint64_t{tile.index} + 1) * sum_tile_elems >= piece.elems;
  if (last && tail + threadIdx.x < piece.elems) adder.template add<1, 1>(tail + threadIdx.x, 0, 1);
}

using SumKernel = void (*)(SumProgram, Arithmetic, size_t);

template <class In, class Acc>
SumKernel with_out(Dtype out) {
  if constexpr (sizeof(Acc) == 8) {
    return summing<In, Acc, double>;
  } else {
    if (out == Dtype::bf16) return summing<In, Acc, __nv_bfloat16>;
    if (out == Dtype::fp16) return summing<In, Acc, __half>;
    return summing<In, Acc, float>;
  }
}

SumKernel kernel_for(Dtype in, Dtype acc, Dtype out) {
  if (in == Dtype::bf16) return with_out<__nv_bfloat16, float>(out);
  if (in == Dtype::fp16) return with_out<__half, float>(out);
  if (in == Dtype::fp64) return with_out<double, double>(out);
  return acc == Dtype::fp64 ? with_out<float, double>(out) : with_out<float, float>(out);
}

}  // namespace

void launch(cudaStream_t stream, const SumProgram& program, const Arithmetic& arithmetic,
            size_t first, int count) {
  const SumKernel kernel = kernel_for(program.in, program.acc, program.out);
  const int shared_bytes = program.bulk ? ring_bytes : 0;
  kernel<<<static_cast<unsigned>(count), threads, shared_bytes, stream>>>(program, arithmetic,
                                                                          first);
}

int vector_elems(Dtype in) { return 16 / static_cast<int>(bytes_of(in)); }

bool load_sum_kernels() {
  bool bulk = true;
  for (Dtype in : {Dtype::bf16, Dtype::fp16, Dtype::fp32, Dtype::fp64})
    for (Dtype acc : {Dtype::fp32, Dtype::fp64})
      for (Dtype out : {Dtype::bf16, Dtype::fp16, Dtype::fp32, Dtype::fp64}) {
        const void* kernel = reinterpret_cast<const void*>(kernel_for(in, acc, out));
        cudaFuncAttributes attributes;
        cudaFuncGetAttributes(&attributes, kernel);
        // Compiled for such a device, as others have no ring.
        bulk = bulk && attributes.ptxVersion >= 90 &&
               cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    ring_bytes) == cudaSuccess;
      }
  if (!bulk) cudaGetLastError();
  return bulk;
}

}  // namespace tide::gpu
