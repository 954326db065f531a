// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/cuda/sum_parts.hpp"

#include <algorithm>
#include <cstring>

#include "backend/cuda/bulk.cuh"

namespace tide::gpu {
namespace {

constexpr size_t vector_bytes = 16;
constexpr size_t tile_bytes = size_t{1} << 20, most_row_bytes = size_t{128} << 10;

size_t misalignment(const void* at) { return reinterpret_cast<uintptr_t>(at) % vector_bytes; }

// Bytes of each row, in whole runs of all rings.
size_t row_bytes_of_tile(size_t rows) {
  const size_t runs = std::min(most_row_bytes, tile_bytes / rows) / ring_step_bytes;
  return std::max<size_t>(1, runs) * ring_step_bytes;
}

}  // namespace

Summing part(const Summing& whole, size_t begin, size_t end) {
  Summing s = whole;
  s.elems = end - begin;
  for (const void*& row : s.rows)
    if (row) row = static_cast<const char*>(row) + begin * bytes_of(s.in);
  if (s.base) s.base = static_cast<const char*>(s.base) + begin * bytes_of(s.acc);
  s.dst = static_cast<char*>(s.dst) + begin * bytes_of(s.final ? s.out : s.acc);
  return s;
}

void cut_by_rings(const Summing& whole, SumParts& into) {
  Summing present = whole;  // a row that is absent adds -0, which changes no sum of others
  std::erase(present.rows, nullptr);
  const size_t size = bytes_of(whole.in), step = vector_bytes / size;
  const auto alike = [&](const void* row) {
    const size_t at = misalignment(row);
    return at == misalignment(present.rows.front()) && at % size == 0;
  };
  const bool rows = !present.rows.empty() && present.rows.size() <= most_ring_rows &&
                    whole.elems * size >= least_ring_bytes &&
                    std::all_of(present.rows.begin(), present.rows.end(), alike);
  if (!rows) return into.pieces.push_back(whole);
  const size_t head = (vector_bytes - misalignment(present.rows.front())) % vector_bytes / size;
  const size_t tail = head + (whole.elems - head) / step * step;
  Summing middle = part(present, head, tail);
  const size_t stored = step * bytes_of(whole.final ? whole.out : whole.acc);
  if (misalignment(middle.dst) % std::min(vector_bytes, stored) || misalignment(middle.base))
    return into.pieces.push_back(whole);
  if (head) into.pieces.push_back(part(whole, 0, head));
  into.by_rings.push_back(std::move(middle));
  if (tail < whole.elems) into.pieces.push_back(part(whole, tail, whole.elems));
}

RingRecords ring_records(const std::vector<Summing>& pieces) {
  constexpr size_t head = sizeof(RingTile) / sizeof(uint64_t);
  static_assert(sizeof(RingTile) % sizeof(uint64_t) == 0 && sizeof(void*) == sizeof(uint64_t));
  size_t most = 0;
  for (const Summing& s : pieces) most = std::max(most, s.rows.size());
  RingRecords records{{}, head + most};
  for (const Summing& s : pieces) {
    const size_t bytes = s.elems * bytes_of(s.in), step = row_bytes_of_tile(s.rows.size());
    for (size_t at = 0; at < bytes; at += step) {
      RingTile tile{};
      tile.base = s.base;
      tile.dst = s.dst;
      tile.begin = at;
      tile.end = std::min(at + step, bytes);
      tile.rows = static_cast<uint32_t>(s.rows.size());
      tile.final = s.final;
      const size_t first = records.words.size();
      records.words.resize(first + records.stride);
      std::memcpy(&records.words[first], &tile, sizeof tile);
      std::memcpy(&records.words[first + head], s.rows.data(), s.rows.size() * sizeof(void*));
    }
  }
  return records;
}

}  // namespace tide::gpu
