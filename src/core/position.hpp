// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// How far a rank has come in the order of a communicator's operations.  All ranks go the same way:
// where one has made more calls but fewer set-ups than another, they made them in another order,
// and wait for each other for ever.
#pragma once
#include <cstdint>

namespace tide {

enum class SetupCall : uint8_t {  // collectives that are not numbered calls
  none,
  group_create,
  group_alloc,
  alloc,
  comm_node,
  comm_rail,
  comm_grid,
  pipeline_create,
  pipeline_begin,
  replica_allreduce,
  norm2,
  save,
  load,
  scatter,
  gather,
  count
};
const char* name(SetupCall call);  // of the function

struct Position {
  uint32_t calls = 0, setups = 0;  // made so far; setups modulo 2^24
  SetupCall in = SetupCall::none;  // what it is in now
};
uint64_t encode(const Position& position);
Position decode_position(uint64_t word);
bool out_of_order(const Position& a, const Position& b);

}  // namespace tide
