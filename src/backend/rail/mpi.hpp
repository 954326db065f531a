// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A rail over MPI point-to-point on a communicator of our own.  Two-sided: opening a region posts
// its receives, so no credit crosses the wire and a put that comes early waits in MPI.
#pragma once
#include <mpi.h>

#include <deque>
#include <vector>

#include "backend/host/node.hpp"
#include "backend/rail.hpp"

namespace tide {

class MpiRail : public Rail {
 public:
  MpiRail(MPI_Comm comm, const Topology& topology);
  ~MpiRail() override;
  const char* name() const override { return "mpi"; }
  void begin(int slot) override;
  void send_record(int slot, int peer, int round, const EntryRecord& record, const void* eager,
                   size_t bytes) override;
  bool receive_record(int slot, int peer, int round, EntryRecord& record, void* eager,
                      size_t bytes) override;
  void open(int slot, int peer, const Incoming& incoming, void* address) override;
  void put(int slot, const Put& put, const void* source) override;
  bool may_put(int slot, size_t bytes, size_t cap) const override;
  void signal(int, int, int) override {}
  bool arrived(int slot, int peer, int index, uint64_t until) override;
  size_t puts_complete(int slot) override;
  void progress(int slot) override;
  bool idle(int slot) override;
  int awaited(int slot) override;
  void abandon() override;

 private:
  struct Opened {  // opened, but no receive is posted for it yet
    char* at;
    size_t left, chunk;
  };
  struct Channel {  // the puts of one peer and index, in order
    int peer = 0, index = 0, tag = 0;
    std::deque<MPI_Request> posted;
    std::deque<Opened> opened;
    uint64_t arrived = 0;
  };
  struct Sending {
    MPI_Request request;
    size_t bytes;
    int peer;
  };
  struct Slot {
    std::vector<Channel> channels;
    std::deque<Sending> sending;
    size_t complete = 0, in_flight_bytes = 0;
    std::vector<MPI_Request> records_sent, records_posted;
    std::vector<std::vector<std::byte>> outbox, inbox;  // by round: a record and what goes with it
  };
  Channel& channel(int slot, int peer, int index);
  void post(Channel& channel);
  void poll(Channel& channel);
  void poll_sends(Slot& slot);
  int tag(int slot, int index) const { return slot * index_count + index; }

  MPI_Comm comm_;
  const Topology& topology_;
  Slot slots_[slot_count];
};

}  // namespace tide
