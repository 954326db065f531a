// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <tide/cxx20.hpp>

#include <bit>
#include <cstdint>

namespace tide {
inline namespace cxx0 {

/// A bfloat16 as it is stored: 2 bytes, trivial.  Compute in float or double; conversion to bf16
/// rounds once, to nearest even, and is explicit.
class bf16 {
 public:
  bf16() = default;
  explicit constexpr bf16(float value) noexcept : bits_(rounded(value)) {}
  explicit constexpr bf16(double value) noexcept : bits_(rounded(to_odd(value))) {}
  static constexpr bf16 from_bits(std::uint16_t bits) noexcept {
    bf16 x{};
    x.bits_ = bits;
    return x;
  }

  constexpr operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
  }
  constexpr std::uint16_t bits() const noexcept { return bits_; }

 private:
  static constexpr std::uint16_t rounded(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (value != value) return static_cast<std::uint16_t>(bits >> 16 | 0x40);  // stays a NaN
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
  // A float with an odd last bit where value is none: the second rounding then cannot mistake it
  // for a tie.
  static constexpr float to_odd(double value) noexcept {
    const auto near = static_cast<float>(value);
    const auto bits = std::bit_cast<std::uint32_t>(near);
    const double back = near;
    if (value != value || back == value || (bits & 1)) return near;
    const bool away = value > 0 ? value > back : value < back;
    return std::bit_cast<float>(away ? bits + 1 : bits - 1);
  }

  std::uint16_t bits_;
};

}  // namespace cxx0
}  // namespace tide
