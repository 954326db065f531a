// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// The kernel of batch.hpp: plain structs, as a .cu file of C++17 reads them, too.
namespace perf::gpu {

enum Element { element_1, element_2, element_4, element_8, element_16, bf16, fp16, fp32, fp64 };

struct Piece {
  const void* src;
  void* dst;
  std::uint64_t elems, padded;  // from elems to padded: zeros are written
  Element from, to;             // equal, or two of the number types
};

struct Tile {
  std::uint64_t first;  // element of the piece
  std::uint64_t piece;
};
constexpr std::uint64_t tile_bytes = 64 << 10;  // at most, of the wider side

cudaError_t launch_batch(const Piece* pieces, const Tile* tiles, unsigned count,
                         cudaStream_t stream);

}  // namespace perf::gpu
