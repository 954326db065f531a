// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Calls in the order of a stream.  The user's thread puts a call into the communicator's order and
// returns; the call starts when its stream has come to it and the calls before it have entered, and
// the progress thread drives it.  A group can have any number of them in the order.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "core/call.hpp"
#include "core/group.hpp"

namespace tide {

// A call that waits for its stream.
struct Enqueued {
  Enqueued(const Arguments& arguments, size_t count);
  Arguments arguments;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  std::shared_ptr<const Outcome> after;  // as of Call::start
  Workspaces workspaces;
  std::shared_ptr<Outcome> outcome = std::make_shared<Outcome>();
};

// A call in a graph that the user captures: each run of the graph puts it into the communicator's
// order anew, in front of calls whose streams have not come so far.
struct GraphCall {
  std::shared_ptr<Group> group;
  uint64_t graph = 0;  // number of the capture
  std::shared_ptr<const Enqueued> call;
  std::shared_ptr<GraphCall> after;  // in the same graph
  std::shared_ptr<Gate> gate = std::make_shared<Gate>(Gate::Of::graph);
  std::shared_ptr<Outcome> outcome;  // of the last run
  // Known to the graph, too, which tells it from a thread of the driver's as it is destroyed.
  std::shared_ptr<std::atomic<bool>> graph_gone = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<Enqueued> next_run();
};

// Throws what keeps this group's calls from a stream's order, before anything has happened.
void check_stream(Group& group);
// Puts a call behind what was issued to the stream, and behind an earlier call of the communicator.
// The outcome's gate lets streams wait.
std::shared_ptr<Outcome> enqueue(const std::shared_ptr<Group>& group, const Arguments& arguments,
                                 gpu::UserStream stream, std::shared_ptr<const Outcome> after = {});
// The same for a stream that is being captured.
std::shared_ptr<GraphCall> capture(const std::shared_ptr<Group>& group, const Arguments& arguments,
                                   gpu::UserStream stream, std::shared_ptr<GraphCall> after = {});

}  // namespace tide
