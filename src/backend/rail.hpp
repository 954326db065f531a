// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A rail joins the ranks that carry one rail of every node.  One of the two virtual classes of
// Tide.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/status.hpp"
#include "plan/plan.hpp"

namespace tide {

struct Fields {  // what must be equal on all ranks in a call
  uint64_t group = 0;
  double scale = 1;
  int32_t op = 0;
  int16_t out_dtype = 0;
  int16_t reduce = 0;
  bool operator==(const Fields& other) const;  // of the bits
};
static_assert(sizeof(Fields) == 24);

// What memory ranks passed; folded by or.
constexpr uint32_t foreign_memory = 1,  // some of it is not mapped by all ranks of its owner's node
    host_memory = 2, device_memory = 4;

struct EntryRecord {  // what the ranks heard from so far say about a call
  Status status;
  Fields fields;  // of `rank`, the lowest rank heard from
  Fields other;   // of `differs`
  int32_t rank = 0;
  int32_t differs = INT32_MAX;  // lowest rank known to have other fields than a lower one
  uint32_t memory = 0;          // the bits above
  // In any order, and any number of times.
  void fold(const EntryRecord& other);
};
// "rank 2 calls with scale 0.5, rank 0 with 1": the first field that differs.
std::string difference(const EntryRecord& record);

// Thrown by a rail that has lost a peer, by its communicator rank.
class LostPeer : public Error {
 public:
  LostPeer(int rank, const std::string& why)
      : Error(Kind::peer, "the connection to rank {} is lost ({})", rank, why), rank_(rank) {}
  int rank() const { return rank_; }

 private:
  int rank_;
};

class Rail {
 public:
  virtual ~Rail() = default;
  virtual const char* name() const = 0;
  virtual std::string detail() const { return ""; }  // devices, for the report
  // --- set-up.  Gather is collective: every rank's bytes, in node-major order. ---
  using Bytes = std::vector<std::byte>;
  using Gather = std::function<std::vector<Bytes>(const Bytes& mine)>;
  virtual void connect(const Gather&) {}
  // This rank's workspace, which peers put into, until the result goes; then collective.
  virtual std::shared_ptr<const void> expose(void*, size_t) { return nullptr; }
  virtual void tell_exposed(const Gather&) {}
  // --- calls ---
  virtual void drive() {}  // lets the transport get on, for peers; any thread
  // A new call takes the slot: counts start at zero.  Everything of the slot's previous call is
  // complete.
  virtual void begin(int slot) = 0;
  // Entry: one record to, and one from, a peer per round, below first_end_round; end of a call:
  // from there on.  At most most_eager bytes go with it; both may be changed after the call.
  static constexpr int first_end_round = 16;  // set-up refuses more than most_nodes
  static constexpr size_t most_eager = 8192;
  virtual void send_record(int slot, int peer, int round, const EntryRecord& record,
                           const void* eager, size_t bytes) = 0;
  // True once it is there.  Where other than `bytes` came with it, the calls differ: those are
  // dropped.
  virtual bool receive_record(int slot, int peer, int round, EntryRecord& record, void* eager,
                              size_t bytes) = 0;
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
  virtual bool idle(int slot) = 0;    // everything that this rank sent in the call is complete
  virtual int awaited(int slot) = 0;  // a peer whose taking of a put is awaited; -1: none
  // The communicator is given up: nothing is received any more.  What was sent may stay under way;
  // its memory must not go.
  virtual void abandon() = 0;
};

}  // namespace tide
