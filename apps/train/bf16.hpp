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

}  // namespace train
