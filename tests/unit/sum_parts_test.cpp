// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A sum's piece cut for the kernel whose rows come by the copy unit: nothing lost, nothing twice,
// every address moved with its elements, and what that kernel takes for granted.
#include "backend/cuda/sum_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace tide::gpu {
namespace {

char* address(size_t at) { return reinterpret_cast<char*>((size_t{1} << 40) + at); }

struct Case {
  Dtype in, acc, out;
  bool final;
  size_t row_at, dst_at, base_at;  // misalignments; base_at 1: no base
  size_t elems;
  int rows, absent;  // so many of the rows, the first
};

Summing whole_of(const Case& c) {
  Summing s{{},    nullptr, address((size_t{1} << 36) + c.dst_at), c.elems, c.in, c.acc,
            c.out, c.final};
  for (int r = 0; r < c.rows; r++)
    s.rows.push_back(r < c.absent ? nullptr : address((size_t{1} << 30) * (r + 1) + c.row_at));
  if (c.base_at != 1) s.base = address((size_t{1} << 37) + c.base_at);
  return s;
}

size_t distance(const void* from, const void* to) {
  return static_cast<size_t>(static_cast<const char*>(to) - static_cast<const char*>(from));
}

// Where the part begins, by each of its addresses.
size_t first_of(const Summing& part, const Summing& whole) {
  const size_t stored = bytes_of(whole.final ? whole.out : whole.acc);
  const size_t at = distance(whole.dst, part.dst) / stored;
  EXPECT_EQ(at * stored, distance(whole.dst, part.dst));
  EXPECT_EQ(whole.base == nullptr, part.base == nullptr);
  if (whole.base) {
    EXPECT_EQ(at * bytes_of(whole.acc), distance(whole.base, part.base));
  }
  std::vector<const void*> expected = whole.rows;
  if (part.rows.size() != whole.rows.size()) std::erase(expected, nullptr);
  EXPECT_EQ(expected.size(), part.rows.size());
  for (size_t r = 0; r < std::min(expected.size(), part.rows.size()); r++) {
    const size_t moved = expected[r] ? at * bytes_of(whole.in) : 0;
    EXPECT_EQ(static_cast<const char*>(expected[r]) + moved, part.rows[r]);
  }
  return at;
}

void check(const Case& c, bool by_ring) {
  SCOPED_TRACE("rows at " + std::to_string(c.row_at) + ", places at " + std::to_string(c.dst_at) +
               ", " + std::to_string(c.elems) + " elements of " + std::to_string(bytes_of(c.in)));
  const Summing whole = whole_of(c);
  SumParts parts;
  cut_by_rings(whole, parts);
  EXPECT_EQ(by_ring ? 1u : 0u, parts.by_rings.size());
  std::vector<std::pair<size_t, size_t>> covered;
  for (const auto* list : {&parts.pieces, &parts.by_rings})
    for (const Summing& s : *list) {
      EXPECT_GT(s.elems, 0u);
      covered.emplace_back(first_of(s, whole), s.elems);
    }
  std::sort(covered.begin(), covered.end());
  size_t at = 0;
  for (const auto& [first, elems] : covered) {
    EXPECT_EQ(at, first);
    at = first + elems;
  }
  EXPECT_EQ(whole.elems, at);
  for (const Summing& s : parts.by_rings) {
    const size_t vector = 16 / bytes_of(s.in), stored = bytes_of(s.final ? s.out : s.acc);
    EXPECT_EQ(0u, s.elems % vector);
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(s.base) % 16);
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(s.dst) % std::min<size_t>(16, vector * stored));
    for (const void* row : s.rows) {
      EXPECT_NE(nullptr, row);
      EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(row) % 16);
    }
    EXPECT_LT(whole.elems - s.elems, 2 * vector);  // only the edges are left to the other kernel
  }
}

constexpr Dtype bf16 = Dtype::bf16, fp32 = Dtype::fp32, fp64 = Dtype::fp64;

TEST(SumParts, EveryElementOnceAtItsAddress) {
  for (size_t elems = 8300; elems < 8330; elems++)
    for (size_t k = 0; k < 8; k++) {  // the first k elements before a vector of 8
      const size_t head = (8 - k) % 8;
      check({bf16, fp32, fp32, true, 2 * k, (16 - 4 * head % 16) % 16, 1, elems, 4, 0}, true);
      check({bf16, fp32, bf16, true, 2 * k, 2 * k, 1, elems, 3, 1}, true);
      check({bf16, fp32, fp32, false, 2 * k, (16 - 4 * head % 16) % 16, (16 - 4 * head % 16) % 16,
             elems, 2, 0},
            true);
    }
  for (size_t elems = 4100; elems < 4110; elems++)
    for (size_t k = 0; k < 4; k++)
      check({fp32, fp32, fp32, true, 4 * k, 4 * k, 1, elems, 5, 2}, true);
  check({fp64, fp64, fp64, true, 8, 8, 8, 2049, 2, 0}, true);
  check({fp32, fp64, fp64, true, 4, 8, 8, 4099, 2, 0}, true);
}

TEST(SumParts, OthersAreLeftWhole) {
  check({bf16, fp32, fp32, true, 0, 4, 1, 9000, 4, 0}, false);   // places
  check({bf16, fp32, fp32, false, 0, 0, 4, 9000, 4, 0}, false);  // base
  check({bf16, fp32, fp32, true, 1, 0, 1, 9000, 4, 0}, false);   // rows between elements
  check({bf16, fp32, fp32, true, 0, 0, 1, 8191, 4, 0}, false);   // short
  check({bf16, fp32, fp32, true, 0, 0, 1, 8192, 4, 0}, true);
  check({bf16, fp32, fp32, true, 0, 0, 1, 9000, 4, 4}, false);  // nobody is there
  check({bf16, fp32, fp32, true, 0, 0, 1, 9000, 1024, 0}, true);
  check({bf16, fp32, fp32, true, 0, 0, 1, 9000, 1025, 0}, false);  // many
  check({bf16, fp32, fp32, true, 0, 0, 1, 9000, 1025, 1}, true);
  Summing odd = whole_of({bf16, fp32, fp32, true, 0, 0, 1, 9000, 2, 0});
  odd.rows[1] = static_cast<const char*>(odd.rows[1]) + 2;
  SumParts parts;
  cut_by_rings(odd, parts);
  EXPECT_TRUE(parts.by_rings.empty());
}

// Records as the kernel reads them: every byte of a row in one tile, with that piece's addresses.
TEST(SumParts, RecordsOfTilesCoverTheirPieces) {
  std::vector<Summing> pieces;
  for (const int rows : {1, 2, 700, 3, 8, 9, 40})
    for (const size_t elems : {8192, 65536, 65544, 200000})
      pieces.push_back(
          whole_of({bf16, fp32, fp32, rows % 2 == 0, 0, 0, rows == 8 ? 0u : 1u, elems, rows, 0}));
  const RingRecords records = ring_records(pieces);
  constexpr size_t head = sizeof(RingTile) / sizeof(uint64_t);
  EXPECT_EQ(head + 700, records.stride);
  ASSERT_EQ(0u, records.words.size() % records.stride);
  size_t at = 0;
  for (const Summing& s : pieces)
    for (uint64_t byte = 0; byte < 2 * s.elems; at += records.stride) {
      ASSERT_LT(at, records.words.size());
      RingTile tile;
      std::memcpy(&tile, &records.words[at], sizeof tile);
      EXPECT_EQ(byte, tile.begin);
      EXPECT_EQ(0u, tile.begin % (32 << 10));  // stores are aligned, and rings alike
      ASSERT_GT(tile.end, tile.begin);
      const uint64_t bytes = tile.end - tile.begin;
      EXPECT_LE(bytes, 128u << 10);
      EXPECT_TRUE(bytes * s.rows.size() <= 1u << 20 || bytes <= 32u << 10) << bytes;
      EXPECT_EQ(s.base, tile.base);
      EXPECT_EQ(s.dst, tile.dst);
      EXPECT_EQ(s.final, tile.final);
      ASSERT_EQ(s.rows.size(), tile.rows);
      EXPECT_EQ(0, std::memcmp(&records.words[at + head], s.rows.data(), 8 * s.rows.size()));
      byte = tile.end;
      EXPECT_LE(byte, 2 * s.elems);
    }
  EXPECT_EQ(records.words.size(), at);
}

}  // namespace
}  // namespace tide::gpu
