// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The control lines that the ranks of a node share.  Each rank owns one block; peers read its entry
// and exit lines and write their row of its signal counters.  Nothing is ever reset or consumed:
// values carry the call's number, so a call that was given up cannot be mistaken for the next one.
// Two calls of a communicator may be in flight: slot = call number mod 2.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/rail.hpp"
#include "core/status.hpp"
#include "plan/plan.hpp"

namespace tide {

constexpr int slot_count = 2;

struct alignas(64) EntryLine {  // written by its owner, then published by `call`
  std::atomic<uint64_t> call;
  Status status;
  Fields fields;
  uint64_t generation;  // of the owner's address table: equal to the last one, it has not changed
  uint32_t freed;       // how often the owner has freed memory that peers map
  uint32_t memory;      // bits of rail.hpp
};
static_assert(sizeof(EntryLine) == 64);
struct alignas(64) OutcomeLine {  // a carrier tells the local ranks of its rail what all nodes said
  std::atomic<uint64_t> call;
  EntryRecord record;
};
struct alignas(64) ExitLine {
  std::atomic<uint64_t> call;
  Status status;
};
struct alignas(64) AlarmLine {  // the communicator is given up; 0: it is not.  See alarm()
  std::atomic<uint64_t> word;
};
struct alignas(64) PositionLine {  // of core/position.hpp, written by its owner
  std::atomic<uint64_t> word;
};
struct alignas(64) SignalRow {  // written by one local rank
  std::atomic<uint64_t> value[index_count];
};
struct ControlBlock {
  EntryLine entry[slot_count];
  OutcomeLine outcome[slot_count];  // of the entry
  OutcomeLine end[slot_count];      // of the whole call, where a transfer could fail
  ExitLine exit[slot_count];
  AlarmLine alarm;
  PositionLine position;
  SignalRow* row(int slot, int sender, int local_size) {
    return reinterpret_cast<SignalRow*>(this + 1) + static_cast<size_t>(slot) * local_size + sender;
  }
  static size_t bytes(int local_size) {
    return sizeof(ControlBlock) + sizeof(SignalRow) * slot_count * static_cast<size_t>(local_size);
  }
};

class Node {  // a rank's view of its node; the blocks are mapped by their owner's segment
              // (core/context)
 public:
  Node() = default;
  Node(int local_rank, std::vector<void*> blocks)
      : local_rank_(local_rank), blocks_(std::move(blocks)) {}
  int local_rank() const { return local_rank_; }
  int size() const { return static_cast<int>(blocks_.size()); }
  ControlBlock& block(int local) const { return *static_cast<ControlBlock*>(blocks_[local]); }

  // Signal `count` of this call and index, sent by me to a local rank; counted by the sender, who
  // alone writes the word.
  void signal(int slot, uint64_t call, int to, int index, uint64_t count) const {
    block(to)
        .row(slot, local_rank_, size())
        ->value[index]
        .store(call << count_bits | count, std::memory_order_release);
  }
  bool signalled(int slot, uint64_t call, int from, int index, uint64_t until) const {
    const auto& word = block(local_rank_).row(slot, from, size())->value[index];
    return word.load(std::memory_order_acquire) >= (call << count_bits | until);
  }

  // Gives the communicator up, on this node: the first cause stays and is returned.  Status without
  // a parameter, its value in a byte.
  Status raise_alarm(const Status& cause) const;
  // The cause, once a rank of the node has given up.  One load.
  bool alarm(Status& cause) const;

 private:
  static constexpr int count_bits = 24;
  int local_rank_ = 0;
  std::vector<void*> blocks_;
};

}  // namespace tide
