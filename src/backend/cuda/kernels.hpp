// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The kernels, as cuda_stream.cpp and cuda_program.cpp see them.  A thread block carries out one
// tile and ends, so that a GEMM whose blocks need its multiprocessor waits for one tile at most.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backend/cuda/sum_parts.hpp"
#include "backend/host/kernels.hpp"

namespace tide::gpu {

struct Tile {
  uint32_t piece, index;  // the index-th tile of that piece
};

constexpr size_t landing_tile_bytes = size_t{64} << 10;  // of each place it lands in
constexpr size_t sum_tile_elems = size_t{64} << 10;

struct LandingPiece {
  const void* src;
  uint64_t elems;  // of `from`; bytes where the types are equal
  uint64_t first_dst, dsts;
  Dtype from, to;
  // Bytes that source and places have in common as their misalignment: 1 to 16.  Where the types
  // differ: 16, if vectors of all of them begin at the same elements, else 1.
  uint8_t width;
};
struct SumPiece {
  uint64_t first_row;
  const void* base;
  void* dst;
  uint64_t elems;
  uint32_t head;  // elements before the first aligned vector
  bool vectors;   // all rows are equally misaligned
  bool wide;      // stores of whole vectors are aligned too
  bool final;
};
struct SumProgram {
  const Tile* tiles;
  const SumPiece* pieces;
  const void* const* rows;
  const int* groups;
  int group_count, row_count;
  Dtype in, acc, out;
};
struct RingProgram {
  const uint64_t* tiles;  // records, see sum_parts.hpp
  size_t tile_words;      // from one to the next
  Dtype in, acc, out;
};
struct LandingProgram {
  const Tile* tiles;
  const LandingPiece* pieces;
  void* const* dst;
};

// Tiles [first, first + count), one thread block each.
void launch(cudaStream_t stream, const LandingProgram& program, size_t first, int count);
void launch(cudaStream_t stream, const SumProgram& program, const Arithmetic& arithmetic,
            size_t first, int count);
void launch(cudaStream_t stream, const RingProgram& program, const Arithmetic& arithmetic,
            size_t first, int count);
#if TIDE_HAVE_MULTICAST
// Of a program whose pieces have one row each, a multicast address.
void launch_switched(cudaStream_t stream, const SumProgram& program, const Arithmetic& arithmetic,
                     size_t first, int count);
void load_switch_kernels();
#endif
int vector_elems(Dtype in);  // of a sum's rows
// Now, not at the first launch, which might wait for running work.
void load_landing_kernel();
void load_sum_kernels();
bool load_ring_kernels();  // whether the device in use has what they need

}  // namespace tide::gpu
