// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Calls in the order of a stream.  The user's thread puts a call into the communicator's order and
// returns; the call starts when its stream has come to it and the calls before it have entered, and
// the progress thread drives it.  A group can have any number of them in the order.
#pragma once
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
  uint64_t number = 0;
  std::shared_ptr<const Outcome> after;  // as of Call::start
  std::shared_ptr<Outcome> outcome = std::make_shared<Outcome>();
};

// Throws what keeps this group's calls from a stream's order, before anything has happened.
void check_stream(Group& group, gpu::UserStream stream);
// Puts a call behind what was issued to the stream, and behind an earlier call of the communicator.
// The outcome's gate lets streams wait.
std::shared_ptr<Outcome> enqueue(const std::shared_ptr<Group>& group, const Arguments& arguments,
                                 gpu::UserStream stream, std::shared_ptr<const Outcome> after = {});

}  // namespace tide
