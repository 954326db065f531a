// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A sum's pieces, cut into what each kernel takes.  Addresses alone: nothing of a device is asked.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/cuda/gpu.hpp"

namespace tide::gpu {

struct SumParts {
  std::vector<Summing> pieces, by_rings, by_switch;
};

// Elements [begin, end).
Summing part(const Summing& whole, size_t begin, size_t end);

// Shorter rows come as fast by loads.
constexpr size_t least_ring_bytes = size_t{16} << 10;
constexpr size_t most_ring_rows = 1024;

// What the copy unit brings of a piece whose rows are in one group and in device memory, and the
// rest: rows that are there, whole vectors of 16 bytes, stores to places as aligned.
void cut_by_rings(const Summing& whole, SumParts& into);

// A tile of such a piece, for one thread block.  It says all of itself, so that the block finds out
// in one read; its rows' addresses follow.
struct RingTile {
  const void* base;
  void* dst;
  uint64_t begin, end;  // bytes of each row
  uint32_t rows;
  bool final;
};
struct RingRecords {
  std::vector<uint64_t> words;
  size_t stride = 0;  // words from one tile to the next
};
// Tiles of about 1 MiB of all rows, at most 128 KiB of each: with up to 32 rows a block lives for
// 6 (two rows) to 17 microseconds, 3 of them before its first bytes are there.  Longer tiles cost
// less of a multiprocessor's time a byte, and delay a GEMM beside them more.
RingRecords ring_records(const std::vector<Summing>& pieces);

}  // namespace tide::gpu
