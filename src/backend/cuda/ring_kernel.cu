// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Sums of rows that come by the copy unit.  Compiled as sum_kernel.cu is, for equal bits.  What it
// spends is instructions: everything that is rare (elements by themselves, rows that are absent,
// groups) is left to the other kernel, so that registers suffice for eight loads under way.
#include <type_traits>

#include "backend/cuda/bulk.cuh"
#include "backend/cuda/elements.cuh"
#include "backend/cuda/gpu.hpp"
#include "backend/cuda/kernels.hpp"

namespace tide::gpu {
namespace {

constexpr int readers = 256;                        // of a ring
constexpr int adders = rings * readers;             // of all rings
constexpr int block_threads = adders + 32 * rings;  // with a warp to fill each ring

using Yes = std::true_type;
using No = std::false_type;

// Bytes [at, end) of each row, in the order in which they are read: of the runs, which the rings
// take in turn, row by row.
__device__ void fill(RingFiller filler, const char* const* rows, uint32_t row_count, uint64_t at,
                     uint64_t end) {
  for (; at < end; at += ring_step_bytes) {
    const auto bytes = static_cast<uint32_t>(min(uint64_t{slice_bytes}, end - at));
    for (uint32_t r = 0; r < row_count; r++) filler.load(rows[r] + at, bytes);
  }
}

// Of a slice a thread adds `each` shares, whose sums fill a store.
template <class In, class Acc>
struct alignas(16 / sizeof(Acc) * sizeof(In)) Share {
  static constexpr int size = 16 / sizeof(Acc);
  static constexpr int each = slice_bytes / int(sizeof(In)) / size / readers;
  In value[size];
};

// The sums of a run of elements from `elem` on; of a last one that is no whole slice, `live`
// shares.
template <bool whole, class In, class Acc, class Out>
__device__ void add_run(RingReader& reader, const RingTile& tile, const Arithmetic& arithmetic,
                        uint64_t elem, int live) {
  using Mine = Share<In, Acc>;
  constexpr int n = Mine::size, each = Mine::each;
  const int me = static_cast<int>(threadIdx.x) % readers;
  Acc total[each][n];
  const auto add_row = [&](auto put) {
    const uint32_t slice = reader.take() + me * static_cast<int>(sizeof(Mine));
    Mine mine[each];
#pragma unroll
    for (int u = 0; u < each; u++)
      if (whole || u * readers + me < live)
        mine[u] = load_shared<Mine>(slice, u * readers * sizeof(Mine));
    reader.leave();
#pragma unroll
    for (int u = 0; u < each; u++)
#pragma unroll
      for (int k = 0; k < n; k++) {
        const Acc row = wide<Acc>(mine[u].value[k]);
        total[u][k] = decltype(put)::value ? row : total[u][k] + row;
      }
  };
  add_row(Yes());
#pragma unroll 1
  for (uint32_t r = 1; r < tile.rows; r++) add_row(No());
  const Factors<Acc> factors(arithmetic);
  const SumTarget target{tile.dst, tile.final, true};
#pragma unroll
  for (int u = 0; u < each; u++) {
    if (!whole && u * readers + me >= live) continue;
    const uint64_t at = elem + static_cast<uint64_t>(u * readers + me) * n;
    if (tile.base) {
      Acc base[n];
      get_all<n>(static_cast<const Acc*>(tile.base) + at, base, true);
#pragma unroll
      for (int k = 0; k < n; k++) total[u][k] = base[k] + total[u][k];
    }
    store_sum<Acc, Out, n>(target, arithmetic, factors, at, total[u]);
  }
}

template <class In, class Acc, class Out>
__global__ void __launch_bounds__(block_threads)
    summing_by_rings(RingProgram program, Arithmetic arithmetic, size_t first_tile) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ Barrier full[rings][ring_slots], empty[rings][ring_slots];
  auto* record = reinterpret_cast<uint64_t*>(memory + ring_bytes);
  const uint64_t* from = program.tiles + (first_tile + blockIdx.x) * program.tile_words;
  for (size_t i = threadIdx.x; i < program.tile_words; i += block_threads) record[i] = from[i];
  const bool fills = threadIdx.x >= adders;
  const int mine = static_cast<int>(fills ? (threadIdx.x - adders) / 32 : threadIdx.x / readers);
  const Ring ring(memory + mine * ring_slots * slice_bytes, full[mine], empty[mine]);
  if (fills && threadIdx.x % 32 == 0) {
    ring.start(readers);
    publish_barriers();
  }
  __syncthreads();
  const RingTile& tile = *reinterpret_cast<const RingTile*>(record);
  uint64_t at = tile.begin + static_cast<uint64_t>(mine) * slice_bytes;
  if (fills) {
    const auto* rows = reinterpret_cast<const char* const*>(record + sizeof(RingTile) / 8);
    if (threadIdx.x % 32 == 0) fill(RingFiller(ring), rows, tile.rows, at, tile.end);
    return;
  }
  RingReader reader(ring);
  const uint64_t end = tile.end;
  for (; at + slice_bytes <= end; at += ring_step_bytes)
    add_run<true, In, Acc, Out>(reader, tile, arithmetic, at / sizeof(In), 0);
  if (at < end)
    add_run<false, In, Acc, Out>(reader, tile, arithmetic, at / sizeof(In),
                                 static_cast<int>((end - at) / sizeof(Share<In, Acc>)));
}

size_t shared_bytes(size_t tile_words) { return ring_bytes + tile_words * 8; }

}  // namespace

void launch(cudaStream_t stream, const RingProgram& program, const Arithmetic& arithmetic,
            size_t first, int count) {
  const auto kernel =
      for_types(program.in, program.acc, program.out, [](auto in, auto acc, auto out) {
        return &summing_by_rings<decltype(in), decltype(acc), decltype(out)>;
      });
  kernel<<<static_cast<unsigned>(count), block_threads, shared_bytes(program.tile_words), stream>>>(
      program, arithmetic, first);
}

bool load_ring_kernels() {
  bool there = true;
  for_all_types([&](auto in, auto acc, auto out) {
    const auto* kernel = reinterpret_cast<const void*>(
        &summing_by_rings<decltype(in), decltype(acc), decltype(out)>);
    cudaFuncAttributes attributes{};
    cudaFuncGetAttributes(&attributes, kernel);
    const auto bytes = static_cast<int>(shared_bytes(sizeof(RingTile) / 8 + most_ring_rows));
    // Compiled for such a device, as others have no copy unit.
    there = there && attributes.ptxVersion >= 90 &&
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) ==
                cudaSuccess;
  });
  if (!there) cudaGetLastError();
  return there;
}

}  // namespace tide::gpu
