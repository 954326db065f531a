// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A rail over UCX: data is put straight into the peer's workspace, then a counter that cannot
// overtake it into the peer's board.  What follows no put (records, regions that open,
// acknowledgements) is announced in one message, and over sockets a put is such messages, too.  A
// board has one writer per word, and its words carry the call's number, as the lines of a node do
// (backend/host/node.hpp): nothing is reset.
// Puts go over the rail's devices in turn; each device has counters of its own.
#pragma once
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backend/host/node.hpp"
#include "backend/rail.hpp"
#include "backend/rail/ucx_path.hpp"
#include "core/memory.hpp"

namespace tide {

class UcxRail : public Rail {
 public:
  // One worker for each device, at most most_paths.  `processes`: of each rank, node-major
  // (Process::number).  chosen: why these devices.
  UcxRail(const std::vector<std::shared_ptr<UcxWorker>>& workers, const Topology& topology,
          int rank, std::vector<uint64_t> processes, std::string chosen);
  ~UcxRail() override;
  const char* name() const override { return "ucx"; }
  std::string detail() const override;
  void connect(const Gather& gather) override;
  std::shared_ptr<const void> expose(void* base, size_t bytes) override;
  void tell_exposed(const Gather& gather) override;
  void drive() override;
  void begin(int slot) override;
  void send_record(int slot, int peer, int round, const EntryRecord& record, const void* eager,
                   size_t bytes) override;
  bool receive_record(int slot, int peer, int round, EntryRecord& record, void* eager,
                      size_t bytes) override;
  void open(int slot, int peer, const Incoming& incoming, void* address) override;
  void put(int slot, const Put& put, const void* source) override;
  bool may_put(int slot, size_t bytes, size_t cap) const override;
  void signal(int slot, int peer, int index) override;
  bool arrived(int slot, int peer, int index, uint64_t until) override;
  size_t puts_complete(int slot) override;
  void progress(int slot) override;
  bool idle(int slot) override;
  int awaited(int slot) override;
  void abandon() override { abandoned_ = true; }

  static constexpr int most_paths = 4;
  // Regions that a rank may have open for another at a time.
  static constexpr int most_open = 32;

 private:
  struct Opening {  // a region that a peer opened for me
    uint64_t address, bytes;
    uint64_t memory;  // number of the exposed memory
    uint64_t stamp;   // call and number, as of a counter
  };
  struct Line;       // what one peer writes in my board
  struct RecordBox;  // what comes in one round: a record and what goes with it
  struct Channel {   // to and from one rank, in the call that has the slot
    int rank = 0;
    std::array<std::array<uint64_t, index_count + 1>, most_paths> counts = {};  // signals sent
    uint64_t opened = 0;  // regions of mine; each is full after so many puts in all:
    std::array<uint64_t, most_open> full_after = {};
    int put_index = 0;          // their signal
    uint64_t used = 0;          // regions that were opened for me, and that I have filled
    size_t filled = 0;          // bytes of the next one
    uint64_t puts = 0;          // of mine
    bool acknowledged = false;  // by me, all that came into my regions
    Opening telling = {};       // goes with the next signal, if it has a stamp
  };
  struct Sending {  // a put, or a piece of one
    UcxRequest request;
    size_t bytes;
    int rank, path;
    bool last = true;
    Announcement head = {};
  };
  struct Note {  // a word, and what it announces, on their way to a board
    UcxRequest request = nullptr;
    int rank = 0, path = 0;
    Announcement head = {};
    Opening opening = {};
  };
  struct Slot {
    uint64_t call = 0;  // calls of this rail that had the slot
    std::vector<Channel> channels;
    std::deque<Sending> sending;
    std::deque<Note> notes;                      // their bytes stay where they are
    std::vector<std::vector<std::byte>> outbox;  // by place of the record
    size_t complete = 0, in_flight_bytes = 0;
  };
  Channel& channel(int slot, int rank);
  uint64_t stamp(int slot, uint64_t number) const;
  size_t count_at(int slot, int path, int index) const;  // of mine, in a peer's board
  // On path 0.  What is announced: the opening if there is one, else data, which the caller keeps
  // until the call is idle.
  void announce(int slot, int rank, const Announcement& head, const Opening* opening,
                const void* data, size_t bytes);
  void count_puts(int slot, int rank, int path, int index);
  void send_pieces(int slot, const Put& put, int path, const void* source, uint64_t address);
  bool counted(int slot, int rank, int path, int index, uint64_t until) const;
  void poll(Slot& slot);
  bool acknowledge(int slot);  // true once all that was put either way is known to be there
  void check_peers() const;
  size_t line_at(int slot, int writer) const;        // in a board
  int record_place(uint64_t call, int round) const;  // of the slot
  size_t record_at(int slot, int place) const;
  Line& line(int slot, int writer) const;

  const Topology& topology_;
  int rank_;
  std::vector<uint64_t> processes_;
  std::string chosen_;
  std::shared_ptr<Segment> memory_;  // of the board
  std::vector<std::unique_ptr<UcxPath>> paths_;
  std::vector<int> paths_of_;  // of each rank: how many of mine reach it
  int ways_ = 0;               // most of any rank
  bool abandoned_ = false;
  Slot slots_[slot_count];
};

}  // namespace tide
