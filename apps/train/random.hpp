// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// splitmix64: one word of state, which a checkpoint can hold, and the same numbers everywhere.
#pragma once
#include <cstdint>

namespace train {

inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

inline uint64_t next_random(uint64_t& state) { return mix(state += 0x9e3779b97f4a7c15ull); }

/// In [0, 1).
inline double unit_interval(uint64_t bits) { return double(bits >> 11) * 0x1p-53; }

}  // namespace train
