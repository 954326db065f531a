// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with a call, in the few words that travel with it: every rank enters a call with
// one of these, all ranks fold them, and all tell the same story.  The text is made at the end, on
// each rank, from the same numbers.
#pragma once
#include <cstdint>
#include <string>

#include "core/error.hpp"

namespace tide {

enum class Fault : int16_t {
  none = 0,
  null_input,
  null_output,
  unaligned_input,
  unaligned_output,
  inputs_in_outputs,
  grads_in_outputs,
  outputs_overlap,
  shared_gradient,
  shared_output,
  partly_shared,
  in_place_types,
  in_place_reduce,
  bad_op,
  bad_out_dtype,
  out_dtype,
  uint8_gradient,
  gather_types,
  bad_scale,
  null_list,
  differs,
  transfer,
  gave_up,
  finalized,
  no_memory,
  unmapped_input,
  unmapped_output,
  silent,
  not_entered,
  elsewhere,
  stuck,
  lost,
  mixed_memory,
  other_device,
  no_device,
  unmapped_device,
  input_length,
  output_length,
  input_elems,
  output_elems,
  input_dtype,
  output_dtype,
  replica_op,
  replica_dtype,
  replica_null,
  replica_unaligned,
  told,
  another_way,
  multicast_of_host
};

struct Status {
  int32_t rank = INT32_MAX;  // communicator rank that reports; INT32_MAX: all is well
  int16_t kind = 0;          // Kind
  Fault fault = Fault::none;
  int32_t param = -1;
  int32_t value = 0;  // what was passed, for faults that tell it
  bool good() const { return rank == INT32_MAX; }
  // Idempotent and order-free: the lowest rank's report stays.
  void fold(const Status& other) {
    if (other.rank < rank) *this = other;
  }
};
static_assert(sizeof(Status) == 16);

// Of an error that a status tells.  What a peer wrote is never taken for success: other values
// become `intern`.
Kind kind_of(const Status&);
// "rank 2: gradient of parameter 3 (layer.w) is NULL ...": one line with the remedy.  wanted: what
// should have been passed instead of `value`.
std::string describe(const Status&, const std::string& param_name, int64_t wanted = 0);

}  // namespace tide
