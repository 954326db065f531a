// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/host/node.hpp"

namespace tide {
namespace {

constexpr uint64_t raised = uint64_t{1} << 63;

uint64_t encode(const Status& s) {
  return raised | static_cast<uint64_t>(static_cast<uint8_t>(s.value)) << 48 |
         static_cast<uint64_t>(static_cast<uint8_t>(s.fault)) << 40 |
         static_cast<uint64_t>(static_cast<uint8_t>(s.kind)) << 32 | static_cast<uint32_t>(s.rank);
}
Status decode(uint64_t word) {
  return {static_cast<int32_t>(word & 0xffffffff), static_cast<int16_t>(word >> 32 & 0xff),
          static_cast<Fault>(word >> 40 & 0xff), -1, static_cast<int32_t>(word >> 48 & 0xff)};
}

}  // namespace

Status Node::raise_alarm(const Status& cause) const {
  uint64_t first = 0;
  if (block(0).alarm.word.compare_exchange_strong(first, encode(cause))) first = encode(cause);
  for (int l = 0; l < size(); l++) block(l).alarm.word.store(first, std::memory_order_release);
  return decode(first);
}

bool Node::alarm(Status& cause) const {
  if (blocks_.empty()) return false;
  const uint64_t word = block(local_rank_).alarm.word.load(std::memory_order_acquire);
  if (!word) return false;
  cause = decode(word);
  return true;
}

}  // namespace tide
