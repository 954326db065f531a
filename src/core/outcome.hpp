// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// How a started call ended: written by whoever drives it, read by whoever waits for it.
#pragma once
#include <mpi.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/gate.hpp"

namespace tide {

struct Outcome {
  std::atomic<bool> over{true};
  std::atomic<bool> inputs_over{true};  // nobody reads this rank's inputs any more
  Kind kind = Kind::none;               // written before `over`
  std::string message;
  bool release_call = false;   // nobody will wait: the group is free again once the call is over
  bool enqueued = false;       // of a call in the order of a stream: the same, of several
  std::shared_ptr<Gate> gate;  // streams wait: nobody will hear of an error.  Under the mutex
  std::vector<MPI_Request> completes;  // generalized requests that complete with it

  void begin() {
    if (!enqueued) gate.reset();
    kind = Kind::none;
    message.clear();
    inputs_over = over = false;
  }
  void tell_inputs_over() {
    if (gate) gate->tell_inputs_over();
    inputs_over.store(true, std::memory_order_release);
  }
  void tell_over() {
    if (gate) gate->tell_over();
    inputs_over.store(true, std::memory_order_release);
    over.store(true, std::memory_order_release);
  }
  void check() const {
    if (kind != Kind::none) throw Error(kind, message);
  }
};

}  // namespace tide
