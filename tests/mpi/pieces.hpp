// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// One buffer per parameter, each between margins of 0xDEADBEEF that a call must leave alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "team.hpp"

namespace tide_test {

// tide: MPIX_Tide_alloc.  foreign: malloc.  by_rank: odd ranks foreign.  by_param: odd parameters
// foreign.  scattered: by a hash of rank, parameter and the seed below.
enum class Memory { tide, foreign, by_rank, by_param, scattered };
const char* name_of(Memory memory);

class Pieces {
 public:
  // Collective (Tide memory is allocated by all ranks together).  shift_bytes moves each piece off
  // its alignment of 64.
  Pieces(const Team& team, Memory memory, std::vector<size_t> bytes, size_t shift_bytes = 0,
         uint64_t seed = 1);
  ~Pieces();
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  void* const* list() const { return at_.data(); }  // NULL where a piece is empty
  void* operator[](size_t p) const { return at_[p]; }
  size_t bytes(size_t p) const { return bytes_[p]; }
  size_t count() const { return bytes_.size(); }
  void* base() const { return tide_.base; }  // of what MPIX_Tide_alloc gave
  void fill(unsigned char byte);
  void expect_filled(unsigned char byte, const char* what) const;
  void expect_margins(const char* what) const;
  std::vector<unsigned char> copy(size_t p) const;

 private:
  struct Arena {
    unsigned char* base = nullptr;
    size_t bytes = 0;
  };
  void mark(const Arena& arena);
  std::vector<size_t> bytes_;
  std::vector<void*> at_;
  Arena tide_, foreign_;
};

}  // namespace tide_test
