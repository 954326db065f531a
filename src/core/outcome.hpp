// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// How a started call ended: written by whoever drives it, read by whoever waits for it.
#pragma once
#include <mpi.h>

#include <atomic>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace tide {

struct Outcome {
  std::atomic<bool> over{true};
  std::atomic<bool> inputs_over{true};  // nobody reads this rank's inputs any more
  Kind kind = Kind::none;               // written before `over`
  std::string message;
  bool release_call = false;  // nobody will wait: the group is free again once the call is over
  std::vector<MPI_Request> completes;  // generalized requests that complete with it

  void begin() {
    kind = Kind::none;
    message.clear();
    inputs_over = over = false;
  }
  void check() const {
    if (kind != Kind::none) throw Error(kind, message);
  }
};

}  // namespace tide
