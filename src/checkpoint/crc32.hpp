// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 as of ISO 3309 and zlib's crc32, of bytes that several ranks hold.  A *bare* CRC has no
// initial and no final inversion, which makes it linear:
//   bare(A B) = append_zeros(bare(A), |B|) ^ bare(B)
// so that ranks combine theirs by exclusive or.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tide {

uint32_t bare_crc32(uint32_t bare, const void* data, size_t bytes);  // goes on from `bare`
uint32_t append_zeros(uint32_t bare, uint64_t bytes);                // O(log bytes)
uint32_t crc32_of_bare(uint32_t bare, uint64_t bytes);               // of `bytes` in all
inline uint32_t crc32(const void* data, size_t bytes) {
  return crc32_of_bare(bare_crc32(0, data, bytes), bytes);
}

}  // namespace tide
