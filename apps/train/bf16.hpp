// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <bit>
#include <cstdint>

namespace train {

using Bf16 = uint16_t;

inline float from_bf16(Bf16 b) { return std::bit_cast<float>(uint32_t(b) << 16); }

/// To nearest even; a NaN stays one.
inline Bf16 to_bf16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  if (f != f) return Bf16((bits >> 16) | 0x40);
  return Bf16((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Writes, or adds (with another rounding), n values.
inline void store_bf16(const float* from, int64_t n, bool add, Bf16* to) {
  if (add)
    for (int64_t e = 0; e < n; ++e) to[e] = to_bf16(from_bf16(to[e]) + from[e]);
  else
    for (int64_t e = 0; e < n; ++e) to[e] = to_bf16(from[e]);
}

inline void expand_bf16(const Bf16* from, int64_t n, float* to) {
  for (int64_t e = 0; e < n; ++e) to[e] = from_bf16(from[e]);
}

}  // namespace train
