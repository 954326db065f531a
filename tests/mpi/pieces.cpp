// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pieces.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "numbers.hpp"

namespace tide_test {

namespace {

const size_t margin = 256;  // bytes: 64 elements of four bytes
const unsigned char canary[4] = {0xEF, 0xBE, 0xAD, 0xDE};

bool is_foreign(Memory memory, int rank, size_t p, uint64_t seed) {
  switch (memory) {
    case Memory::tide:
      return false;
    case Memory::foreign:
      return true;
    case Memory::by_rank:
      return rank % 2 == 1;
    case Memory::by_param:
      return p % 2 == 1;
    case Memory::scattered:
      return mix(seed, static_cast<uint64_t>(rank), p) & 1;
  }
  return false;
}

}  // namespace

const char* name_of(Memory memory) {
  static const char* names[] = {"tide", "foreign", "by_rank", "by_param", "scattered"};
  return names[static_cast<int>(memory)];
}

Pieces::Pieces(const Team& team, Memory memory, std::vector<size_t> bytes, size_t shift_bytes,
               uint64_t seed)
    : bytes_(std::move(bytes)), at_(bytes_.size(), nullptr) {
  std::vector<size_t> offset(bytes_.size());
  for (size_t p = 0; p < bytes_.size(); ++p) {
    Arena& arena = is_foreign(memory, team.rank, p, seed) ? foreign_ : tide_;
    offset[p] = (arena.bytes + margin + 63) / 64 * 64 + shift_bytes;
    if (bytes_[p]) arena.bytes = offset[p] + bytes_[p] + margin;
  }
  foreign_.base =
      static_cast<unsigned char*>(std::aligned_alloc(64, foreign_.bytes / 64 * 64 + 64));
  TIDE_OK(
      MPIX_Tide_alloc(team.comm, static_cast<MPI_Aint>(tide_.bytes), MPI_INFO_NULL, &tide_.base));
  mark(foreign_);
  mark(tide_);
  for (size_t p = 0; p < bytes_.size(); ++p) {
    const Arena& arena = is_foreign(memory, team.rank, p, seed) ? foreign_ : tide_;
    if (bytes_[p]) at_[p] = arena.base + offset[p];
  }
}

Pieces::~Pieces() {
  std::free(foreign_.base);
  if (tide_.base) TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, tide_.base));
}

void Pieces::mark(const Arena& arena) {
  for (size_t i = 0; i < arena.bytes; ++i) arena.base[i] = canary[i % 4];
}

void Pieces::fill(unsigned char byte) {
  for (size_t p = 0; p < bytes_.size(); ++p) {
    if (bytes_[p]) std::memset(at_[p], byte, bytes_[p]);
  }
}

void Pieces::expect_filled(unsigned char byte, const char* what) const {
  for (size_t p = 0; p < bytes_.size(); ++p) {
    const auto* b = static_cast<const unsigned char*>(at_[p]);
    EXPECT_TRUE(std::all_of(b, b + bytes_[p], [&](unsigned char c) { return c == byte; }))
        << what << ": parameter " << p << " was written";
  }
}

void Pieces::expect_margins(const char* what) const {
  for (const Arena* arena : {&tide_, &foreign_}) {
    std::vector<std::pair<size_t, size_t>> inside;
    for (size_t p = 0; p < bytes_.size(); ++p) {
      const auto* b = static_cast<const unsigned char*>(at_[p]);
      if (bytes_[p] && b >= arena->base && b < arena->base + arena->bytes) {
        inside.emplace_back(static_cast<size_t>(b - arena->base), bytes_[p]);
      }
    }
    inside.emplace_back(arena->bytes, 0);
    size_t from = 0;
    for (const auto& [offset, bytes] : inside) {
      size_t i = from;
      while (i < offset && arena->base[i] == canary[i % 4]) ++i;
      ASSERT_EQ(offset, i) << what << ": byte " << i
                           << " between the pieces was overwritten; the next piece starts at "
                           << offset << ", the one before ended at " << from;
      from = offset + bytes;
    }
  }
}

std::vector<unsigned char> Pieces::copy(size_t p) const {
  const auto* b = static_cast<const unsigned char*>(at_[p]);
  return {b, b + bytes_[p]};
}

}  // namespace tide_test
