// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpix_tide.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

// The element types of a parameter, as values and as C++ types.
namespace perf {

struct Bf16 {
  std::uint16_t bits;
};
using Fp16 = _Float16;

/// Bytes of one element of `dtype` (MPIX_TIDE_BF16, ...).
std::size_t elem_bytes(int dtype);

/// The name used on the command line and in list files: bf16, fp16, fp32, fp64, uint8.
std::string dtype_name(int dtype);

/// The dtype of a name, 0 if it is none.
int dtype_from_name(const std::string& name);

/// Writes `value` at `dst` as one element of `dtype`, rounded to nearest even.
void encode(void* dst, int dtype, double value);

inline float to_float(Bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }

inline Bf16 to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  // Rounding must not carry a NaN's payload into infinity, so a NaN is kept quiet instead.
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const std::uint32_t quiet_nan = (bits >> 16) | 0x40;
  return {static_cast<std::uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet_nan : rounded)};
}

}  // namespace perf
