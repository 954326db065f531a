// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// One collective call of a group on its way: entry, lanes, exit.
//   entry  every rank publishes a line (call number, status, what it calls, generation of its
//   addresses) and sees those of its node; over the rails the nodes exchange one record in
//   ceil(log2 M) rounds.  Only when all ranks have entered, and all are well, is any buffer
//   touched: a call that one rank got wrong moves no data and ends with the same error everywhere.
//   lanes  the backend carries the plan out.
//   exit   every rank of the node says that it is through; then no peer touches this rank's buffers
//   any more.
//   (Where some rank passed memory that its node does not map and there are several nodes, a second
//   exchange of records after the exit tells all nodes whether a transfer failed.)
// A call is started by its rank's thread, then driven by whoever drives the communicator
// (context.hpp): start() and progress() are made with the context's mutex held.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "core/address_table.hpp"
#include "core/group.hpp"
#include "core/outcome.hpp"
#include "core/where.hpp"

namespace tide {

struct Arguments {
  bool reduce = false;  // reduce-scatter, else all-gather
  const void* const* inputs = nullptr;
  void* const* outputs = nullptr;
  bool in_place = false;      // MPIX_TIDE_IN_PLACE
  int out_dtype = 0, op = 0;  // reduce-scatter
  double scale = 1;
  Status wrong;  // what is known to be wrong with the lists: the call fails with it, on all ranks
  // Enters once the call before it is over here, and not at all where that failed, which all ranks
  // know alike.  Else it enters once the inputs of the call before it have been read.
  bool needs_success = false;
};

// Of an input or an output of a call.
inline Dtype type_of(const Arguments& a, const Param& param, bool input) {
  if (input) return a.reduce ? param.grad : param.shard;
  if (!a.reduce) return param.full;
  return a.out_dtype ? static_cast<Dtype>(a.out_dtype) : param.shard;
}

// One direction of a group: what its ranks publish, and the arguments last seen with what was found
// wrong with them.
struct Side {
  Side(Context& context, const std::vector<std::shared_ptr<Segment>>& tables,
       const std::vector<Param>& params, bool reduce);
  AddressTable table;               // gathered parameters, or gradients
  std::vector<size_t> full_bytes;   // of each parameter (or gradient); 0: none or frozen
  std::vector<const void*> inputs;  // pointer lists are the user's only until the call is made
  std::vector<void*> outputs;
  Status found;
  uint64_t epoch = 0;  // of the process's memory when it was checked
  int64_t key = -1;    // op flags, out_dtype, in_place
  bool any_foreign = false;
  uint32_t memory = 0;  // host_memory or device_memory; 0: nothing but empty pieces
  std::vector<std::shared_ptr<const gpu::Binding>> bindings;
  std::vector<AddressTable::Place> multicast;
  int64_t partly_shared = -1;
  int partly_shared_local = 0;
  uint64_t shared_generation = 0;
};

// Local check of one call's arguments (check_arguments.cpp); all is well: a good Status.
Status check_arguments(Group& group, Side& side, const Arguments& arguments);
// What should have been passed instead of status.value, on every rank the same: from the group's
// parameters and what the call's lowest rank said.
int64_t wanted_instead(const Group& group, const Status& status, const Fields& fields);

class Call {
 public:
  // `tables`: of share_tables, with two entries a parameter.
  Call(Group& group, const std::vector<std::shared_ptr<Segment>>& tables);

  // Takes the group for one call, from start to the end of its outcome's use; Error{request} where
  // it is taken.
  void take();
  void release() { taken_ = false; }
  // The same for calls in the order of streams, which share the group; the context's mutex is held.
  void take_for_stream();
  bool try_take_for_stream();
  void release_by_stream();

  // Checks the arguments.  hold: the memory that it uses stays mapped until it is over, whatever
  // the user frees.  after: an earlier call of the communicator, whose inputs this one may
  // overwrite, or whose outcome it needs; null: none.  workspaces: as they were where the program
  // made the call, which all ranks did at the same place.
  void start(const Arguments& arguments, std::shared_ptr<Outcome> outcome, bool hold,
             std::shared_ptr<const Outcome> after, Workspaces workspaces);
  bool waits() const;           // for the call before it
  bool fail_with_last();        // true where that failed, and so this one has
  void enter(uint64_t number);  // its slot is free: tells the node
  bool progress();              // goes on as far as it can; true if anything moved
  bool over() const { return phase_ == Phase::over; }
  void fail(Kind kind, const std::string& message);  // over, whatever peers still do
  // Of a call in the order of a stream that has not come so far.
  void fail_unstarted(Outcome& outcome, Kind kind, const std::string& message);
  // Where it stands; missing: communicator ranks that it waits for, as far as they are known.
  Where where(std::vector<int>& missing) const;

  const char* path(bool reduce) const { return path_[reduce]; }
  uint64_t calls(bool reduce) const { return calls_[reduce]; }

 private:
  void check(const Arguments& arguments);
  bool step();
  bool see_lines();
  void begin_rails();
  bool exchange_records();
  bool see_outcome();
  void conclude();
  void bind();
  void choose_memory();
  Status check_memory() const;
  void choose_plan();
  void choose_rail(bool device);
  bool choose_multicast(bool device);
  bool run_lanes();
  void see_inputs();
  void leave();
  bool see_exits();
  void end();
  bool see_end();
  void finish();
  void complete();
  void tell(Outcome& outcome);
  void hold_memory();
  Side& side() { return sides_[arguments_.reduce]; }
  const Node& node() const { return context_.node_lines(); }

  Group& group_;
  Context& context_;
  std::array<Side, 2> sides_;
  std::atomic<bool> taken_ = false;
  int in_streams_ = 0;  // calls in the order of streams
  Phase phase_ = Phase::over;
  Arguments arguments_;
  std::shared_ptr<Outcome> outcome_;
  std::shared_ptr<const Outcome> after_;
  std::shared_ptr<const WorkspaceSet> workspace_,  // of the communicator when the call was started
      device_workspace_;                           // null without a rail of its own
  std::vector<std::shared_ptr<Segment>> held_;
  std::vector<std::shared_ptr<const Multicast>> multicasts_;  // that it uses
  bool hold_ = false, inputs_read_ = false, moving_ = false;
  bool eager_gather_ = false;
  Status status_;
  EntryRecord record_;
  int round_ = 0;
  bool record_sent_ = false, tell_end_ = false;
  Work work_;
  Backend* backend_ = nullptr;
  std::array<const char*, 2> path_{"none yet", "none yet"};
  std::array<uint64_t, 2> calls_{0, 0};
};

}  // namespace tide
