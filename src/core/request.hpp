// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// An operation that the user started and has not completed, or may start again.  It keeps its group
// alive, and so everything that the operation needs.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "core/call.hpp"
#include "core/group.hpp"

namespace tide {

// Start, wait, and throw what went wrong, on every rank alike.
void run(const std::shared_ptr<Group>& group, const Arguments& arguments);

struct GraphCall;

class Request {
 public:
  // The lists are copied.
  Request(std::shared_ptr<Group> group, const Arguments& arguments, bool persistent);
  // Two calls, one after the other: `first` on a group of the same communicator, then this one.
  // Inputs of the first are outputs of the second.
  Request(std::unique_ptr<Request> first, std::shared_ptr<Group> group, const Arguments& second);
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  Group& group() const { return *group_; }
  bool persistent() const { return persistent_; }
  bool active() const { return active_; }
  bool over() const { return outcome_->over.load(std::memory_order_acquire); }

  // after: an earlier request of the communicator; this one overwrites its inputs, and enters once
  // they have been read.
  void start(const Request* after = nullptr);
  // Drives until over, or a little.  Then one caller, to whom `end` is true, ends the active time,
  // and by `complete` hears what went wrong (Error).
  void wait();
  bool test();
  bool end();
  void complete();
  void wait_inputs();
  bool test_inputs();
  // The same in the order of a stream: started once the stream comes so far; the stream waits for
  // the inputs, or for all of it, which ends the active time.  Group::async_error tells errors.
  // A stream that is being captured records start and waits, of one capture, and starts nothing.
  void start_on(gpu::UserStream stream, const Request* after = nullptr);
  void wait_inputs_on(gpu::UserStream stream);
  void wait_on(gpu::UserStream stream);
  void set(int op, double scale);  // inactive persistent reduce-scatter
  // Of an all-gather that is not active: flags that its ranks must have alike.
  void mark(int flags) { arguments_.op = flags; }
  void mpi(MPI_Request* request);

 private:
  void let_go();  // nobody will complete it
  std::shared_ptr<Gate> gate();
  std::shared_ptr<Gate> gate_for(gpu::UserStream stream);  // null: nothing to wait for
  std::unique_ptr<Request> first_;                         // null: one call
  std::shared_ptr<Group> group_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  Arguments arguments_;
  const bool persistent_;
  std::atomic<bool> active_ = false;
  std::shared_ptr<Outcome> outcome_ = std::make_shared<Outcome>();
  std::shared_ptr<GraphCall> captured_;  // between its start and its wait in a capture
};

}  // namespace tide
