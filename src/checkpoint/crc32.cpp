// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Eight tables, eight bytes a step: M. Kounavis, F. Berry, "A Systematic Approach to Building High
// Performance, Software-based, CRC Generators", ISCC 2005.  Bits are reflected: the lowest bit of
// the first byte is the highest power of x.
#include "checkpoint/crc32.hpp"

#include <array>

namespace tide {
namespace {

constexpr uint32_t polynomial = 0xEDB88320u;  // x^32 + x^26 + ... + 1, reflected
constexpr uint32_t one = 0x80000000u;         // x^0

using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables t{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t r = byte;
    for (int bit = 0; bit < 8; bit++) r = r & 1 ? r >> 1 ^ polynomial : r >> 1;
    t[0][byte] = r;
  }
  for (uint32_t byte = 0; byte < 256; byte++)
    for (size_t k = 1; k < 8; k++) t[k][byte] = t[k - 1][byte] >> 8 ^ t[0][t[k - 1][byte] & 0xFF];
  return t;
}
constexpr Tables tables = make_tables();

// The product of two polynomials, modulo the CRC's.
uint32_t times(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = one; bit; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b & 1 ? b >> 1 ^ polynomial : b >> 1;
  }
  return product;
}

}  // namespace

uint32_t bare_crc32(uint32_t r, const void* data, size_t bytes) {
  const auto* at = static_cast<const uint8_t*>(data);
  const auto word = [](const uint8_t* p) {  // little end first, on any machine
    return uint32_t{p[0]} | uint32_t{p[1]} << 8 | uint32_t{p[2]} << 16 | uint32_t{p[3]} << 24;
  };
  for (; bytes >= 8; bytes -= 8, at += 8) {
    const uint32_t a = r ^ word(at), b = word(at + 4);
    r = tables[7][a & 0xFF] ^ tables[6][a >> 8 & 0xFF] ^ tables[5][a >> 16 & 0xFF] ^
        tables[4][a >> 24] ^ tables[3][b & 0xFF] ^ tables[2][b >> 8 & 0xFF] ^
        tables[1][b >> 16 & 0xFF] ^ tables[0][b >> 24];
  }
  for (; bytes; bytes--) r = r >> 8 ^ tables[0][(r ^ *at++) & 0xFF];
  return r;
}

uint32_t append_zeros(uint32_t r, uint64_t bytes) {
  uint32_t power = one >> 8, factor = one;  // x^8 for a byte; squared for each bit of the count
  for (; bytes; bytes >>= 1, power = times(power, power))
    if (bytes & 1) factor = times(factor, power);
  return times(r, factor);
}

uint32_t crc32_of_bare(uint32_t r, uint64_t bytes) {
  return r ^ append_zeros(0xFFFFFFFFu, bytes) ^ 0xFFFFFFFFu;
}

}  // namespace tide
