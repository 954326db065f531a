// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What ranks publish about a call, as any bytes: entry records are folded in any order, alarm words
// are decoded, and all of it is told in words.
#include <array>
#include <memory>
#include <vector>

#include "backend/host/node.hpp"
#include "backend/rail.hpp"
#include "core/where.hpp"
#include "input.hpp"
#include "plan/plan.hpp"

using namespace fuzz;
using namespace tide;

namespace {

bool same(const EntryRecord& a, const EntryRecord& b) {
  const bool differ = a.differs == b.differs && (a.differs == INT32_MAX || a.other == b.other);
  return a.status.rank == b.status.rank && a.status.fault == b.status.fault && a.rank == b.rank &&
         a.fields == b.fields && differ && a.memory == b.memory;
}

EntryRecord folded(const std::vector<EntryRecord>& records, size_t first, size_t step) {
  const size_t n = records.size();
  EntryRecord all = records[first];
  for (size_t k = 1; k < n; k++) all.fold(records[(first + k * step) % n]);
  return all;
}

// What a peer wrote is told as one of the errors that there are, never as success.
bool is_error(const Status& status) {
  const Kind kind = kind_of(status);
  return (kind >= Kind::mismatch && kind <= Kind::device) ||
         (kind >= Kind::arg && kind <= Kind::other);
}

// As ranks really enter: each with its own number.  All end with the same.
void fold_in_any_order(Input& in) {
  static constexpr size_t primes[] = {2, 3, 5, 7};
  const size_t n = primes[in.below(3)];
  std::vector<EntryRecord> records(n);
  for (size_t r = 0; r < n; r++) {
    EntryRecord& record = records[r];
    const auto bits = in.take<uint8_t>();
    record.rank = static_cast<int32_t>(r);
    record.fields = {1u + (bits & 1), bits & 2 ? 1.0 : 0.5, bits >> 2 & 1, 0,
                     static_cast<int16_t>(bits >> 3 & 1)};
    record.memory = bits >> 4 & 1;
    if (bits & 0x20) record.status = {record.rank, 16, static_cast<Fault>(bits >> 6), -1};
  }
  const EntryRecord first = folded(records, 0, 1);
  for (size_t start = 0; start < n; start++)
    for (size_t step = 1; step < n; step++) {
      EntryRecord other = folded(records, start, step);
      require(same(first, other), "records fold alike in any order");
      other.fold(first);
      require(same(first, other), "and any number of times");
    }
  bool alike = true;
  for (const auto& record : records) alike &= record.fields == records[0].fields;
  require(alike == (first.differs == INT32_MAX), "a difference is found, and only a difference");
}

void fold_anything(Input& in) {
  auto a = in.take<EntryRecord>(), b = in.take<EntryRecord>();
  const bool wrong = !a.status.good() || !b.status.good();
  a.fold(b);
  a.fold(a);
  require(wrong == !a.status.good(), "a fault is not lost");
  require(is_error(a.status), "an error by its kind");
  require(!difference(a).empty() && !describe(a.status, in.text('\0')).empty(), "in words");
}

void read_alarm(Input& in) {
  constexpr int locals = 2;
  std::vector<std::unique_ptr<uint64_t[]>> memory;
  std::vector<void*> blocks;
  for (int l = 0; l < locals; l++) {
    const size_t bytes = ControlBlock::bytes(locals);
    memory.push_back(std::make_unique<uint64_t[]>(bytes / 8 + 8));
    const auto at = reinterpret_cast<uintptr_t>(memory.back().get());
    blocks.push_back(reinterpret_cast<void*>((at + 63) / 64 * 64));
  }
  const Node node(1, blocks);
  Status cause;
  require(!node.alarm(cause), "no alarm before one is raised");
  node.block(1).alarm.word = in.take<uint64_t>();
  if (node.alarm(cause)) require(is_error(cause) && !describe(cause, "").empty(), "in words");
  const auto earlier = in.take<uint64_t>();
  node.block(0).alarm.word = earlier;
  const auto own = in.take<Status>();
  const Status first = node.raise_alarm(own);
  require(node.alarm(cause) && cause.rank == first.rank && cause.fault == first.fault,
          "one cause on the node");
  for (int l = 0; earlier && l < locals; l++)
    require(node.block(l).alarm.word == earlier, "the first cause stays");
  describe(cause, "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input in(data, bytes);
  fold_in_any_order(in);
  fold_anything(in);
  read_alarm(in);
  while (in.left()) require(!words(in.take<Where>()).empty(), "in words");
  return 0;
}
