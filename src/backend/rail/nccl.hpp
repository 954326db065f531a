// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A rail of device memory over NCCL's host RMA: puts into a window of the peer's device workspace,
// each with a signal.  Entry records, grants and the notes below go by host: over the rail of host
// memory and MPI.
//
// Two communicators, of all-gathers and of reduce-scatters, since whatever is issued to one of them
// runs in one order, on whichever stream.  For that reason a wait is issued only when it is known
// to end: a rank tells its peer of a put (a note) when the put is complete here, and only then the
// peer waits for its signal, which makes the data visible there.  So no wait can hold up a put that
// another rank waits for, and none is left on a stream when a rank dies: NCCL 2.32 cannot even be
// aborted then.
#pragma once
#include <mpi.h>

#include <array>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/cuda/gpu.hpp"
#include "backend/host/node.hpp"
#include "backend/rail.hpp"
#include "backend/rail/nccl_library.hpp"
#include "core/memory.hpp"

namespace tide {

class NcclRail : public Rail {
 public:
  // records: the rail of host memory.  NCCL's ranks are Tide's, node-major.
  NcclRail(const NcclLibrary& library, Rail& records, MPI_Comm comm, const Topology& topology,
           int rank, int device);
  ~NcclRail() override;

  // --- set-up, in this order, by all ranks at once.  These wait for peers inside NCCL, and may
  // wait for ever. ---
  using Ids = std::array<NcclId, 2>;
  static Ids make_ids(const NcclLibrary& library);
  void init(const Ids& ids);
  // Registers memory of one size on all ranks, page aligned; it stays while the result lives.
  // Error{unsupported} where NCCL has no windows between these ranks.
  std::shared_ptr<const void> expose(std::shared_ptr<Segment> memory);
  void warm_up();  // a put to, and from, each rank of the rail
  // Memory that nobody uses here any more, by number; what all ranks name alike may be released.
  std::vector<int64_t> unused() const;
  void release(const std::vector<int64_t>& numbers);

  // --- Rail ---
  const char* name() const override { return "nccl"; }
  std::string detail() const override;
  void begin(int slot) override;
  void send_record(int slot, int peer, int round, const EntryRecord& record, const void* eager,
                   size_t bytes) override {
    records_.send_record(slot, peer, round, record, eager, bytes);
  }
  bool receive_record(int slot, int peer, int round, EntryRecord& record, void* eager,
                      size_t bytes) override {
    return records_.receive_record(slot, peer, round, record, eager, bytes);
  }
  void open(int slot, int peer, const Incoming& incoming, void* address) override;
  void put(int slot, const Put& put, const void* source) override;
  bool may_put(int slot, size_t bytes, size_t cap) const override;
  void signal(int slot, int peer, int index) override;
  bool arrived(int slot, int peer, int index, uint64_t until) override;
  size_t puts_complete(int slot) override;
  void progress(int slot) override;
  bool idle(int slot) override;
  int awaited(int slot) override;
  void abandon() override;

 private:
  struct Opening {  // a region that a peer opened for me
    int64_t memory = -1;
    uint64_t offset = 0, bytes = 0;
  };
  struct Note {  // from host to host: a signal, with the region that it opens, or a put's
    uint64_t call;
    int32_t slot, index, from, is_put;
    Opening opening;
  };
  struct Channel {  // to and from one rank, in the call that has the slot
    int rank = 0;
    std::array<uint64_t, index_count> counts = {};  // of what came
    Opening telling = {};                           // goes with the next signal
    std::deque<Opening> opened;                     // for me, not filled yet
    uint64_t filled = 0;                            // bytes of the first one
  };
  struct Slot {
    uint64_t call = 0;  // calls of this rail that had the slot
    std::vector<Channel> channels;
    size_t complete = 0, in_flight = 0, in_flight_bytes = 0, waits = 0;
  };
  struct Sending {
    int slot, rank, index;
    const void* source;
    size_t bytes;
    Opening at;  // where its bytes begin
    uint64_t mark;
  };
  struct Waiting {
    int slot, rank, index;
    uint64_t mark;
  };
  struct Way {  // a communicator, and what was given to it, in order
    NcclComm comm = nullptr;
    std::unique_ptr<gpu::Stream> stream;
    std::deque<Sending> sending;
    std::deque<Waiting> waiting;
    size_t puts_issued = 0, waits_issued = 0;  // from the front
  };
  struct Memory {
    int64_t number;
    std::shared_ptr<Segment> segment;
    std::array<NcclWindow, 2> windows;
    std::weak_ptr<const void> users;
  };
  struct Ending;
  struct Outgoing {
    MPI_Request request;
    Note note;
  };
  Channel& channel(int slot, int rank);
  const Memory& memory_of(const void* address) const;
  NcclWindow window(int64_t memory, size_t way) const;
  void send(int rank, const Note& note);
  void take_notes();
  void issue(size_t way);
  void complete(Way& way);
  void check_peers();
  void end();

  const NcclLibrary& library_;
  Rail& records_;
  MPI_Comm comm_;
  const Topology& topology_;
  const int rank_, device_;
  std::array<Way, 2> ways_;
  std::list<Memory> memories_;
  mutable std::mutex memories_mutex_;
  std::mutex in_nccl_;  // set-up has a thread of its own, and NCCL takes one at a time
  int64_t next_memory_ = 0;
  std::deque<Outgoing> outgoing_;
  std::vector<NcclWait> waits_;
  Slot slots_[slot_count];
  unsigned looks_ = 0;
  std::shared_ptr<Ending> ending_;  // of the communicators, once it has begun
  bool abandoned_ = false;
};

}  // namespace tide
