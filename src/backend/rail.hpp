// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A rail joins the ranks that carry one rail of every node.  One of the two virtual classes of
// Tide.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/status.hpp"
#include "plan/plan.hpp"

namespace tide {

struct EntryRecord {  // what the ranks heard from so far say about a call
  Status status;
  uint64_t hash = 0;  // of the lowest rank heard from
  int32_t hash_rank = 0;
  int32_t differs = INT32_MAX;  // lowest rank known to have another hash
  uint32_t foreign = 0;         // some rank passed memory that its node does not map
  void fold(const EntryRecord& other);
};

class Rail {
 public:
  virtual ~Rail() = default;
  virtual const char* name() const = 0;
  // A new call takes the slot: counts start at zero.  Everything of the slot's previous call is
  // complete.
  virtual void begin(int slot) = 0;
  // Entry: one record to, and one from, a peer per round.  The record must stay as it is until the
  // slot's next begin().
  virtual void send_record(int slot, int peer, int round, const EntryRecord& record) = 0;
  virtual bool receive_record(int slot, int peer, int round,
                              EntryRecord& record) = 0;  // true once it is there
  // The peer may put into this region of mine, at this address.
  virtual void open(int slot, int peer, const Incoming& incoming, void* address) = 0;
  virtual void put(int slot, const Put& put, const void* source) = 0;
  virtual bool may_put(int slot, size_t bytes,
                       size_t cap) const = 0;  // bytes in flight stay under the cap
  virtual void signal(int slot, int peer,
                      int index) = 0;  // credits; not needed where opening posts a receive
  virtual bool arrived(int slot, int peer, int index, uint64_t until) = 0;
  virtual size_t puts_complete(
      int slot) = 0;  // leading puts of this call whose source is free again
  virtual void progress(int slot) = 0;
  virtual bool idle(int slot) = 0;  // everything that this rank sent in the call is complete
};

}  // namespace tide
