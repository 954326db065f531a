// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Where a rank stands in a call, and for whom it waits: in the few words that travel to others when
// somebody has waited too long.
#pragma once
#include <cstdint>
#include <string>

#include "core/position.hpp"

namespace tide {

enum class Phase : uint8_t {
  over,
  queued,       // its slot of the communicator is still busy
  lines,        // entry: waits for the ranks of its node
  records,      // entry: waits for another node
  outcome,      // entry: waits for the local rank that carries its rail
  lanes,        // moves data
  exit,         // waits until the ranks of its node are through
  end_records,  // as records and outcome, where a transfer could fail
  end_outcome,
  setup  // in a collective that creates something
};

struct Where {
  uint64_t call = 0;   // number on the communicator; of a set-up: its step
  int32_t peer = -1;   // communicator rank that it waits for; -1: not one alone
  int16_t index = -1;  // lanes: of the signal that it waits for
  Phase phase = Phase::over;
  uint8_t lane = 0;
  uint8_t reduce = 0;
  SetupCall in = SetupCall::none;  // of a set-up
};
static_assert(sizeof(Where) == 24);

// "in the reduce-scatter that is call 7 of its communicator: lanes, rail lane, waits for signal
// landed of rank 3"
std::string words(const Where& where);

}  // namespace tide
