// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/status.hpp"

#include "core/dtype_name.hpp"
#include "core/position.hpp"
#include "tide_bindings.h"

namespace tide {

static const char* words(Fault fault) {
  switch (fault) {
    case Fault::none:
      return "no fault";
    case Fault::null_input:
      return "input{of} is NULL although its piece is not empty; pass its address (a "
             "reduce-scatter "
             "may pass MPIX_TIDE_NULL_IS_ZERO)";
    case Fault::null_output:
      return "output{of} is NULL although its piece is not empty; pass its address";
    case Fault::unaligned_input:
      return "input{of} is not aligned to its element size; pass an element-aligned address";
    case Fault::unaligned_output:
      return "output{of} is not aligned to its element size; pass an element-aligned address";
    case Fault::inputs_in_outputs:
      return "input and output{of} overlap; only this rank's own rows of the parameter (or "
             "MPIX_TIDE_IN_PLACE) may be gathered in place";
    case Fault::grads_in_outputs:
      return "gradient{of} overlaps an output; a reduce-scatter needs shards apart from its "
             "gradients";
    case Fault::outputs_overlap:
      return "output{of} overlaps another output; give every parameter storage of its own";
    case Fault::shared_gradient:
      return "gradient{of} lies in node-shared memory (tide_share=node), which ranks would "
             "overwrite "
             "for each other; allocate gradients with tide_share=none";
    case Fault::shared_output:
      return "reduce-scatter output{of} lies in node-shared memory (tide_share=node); allocate "
             "shards with tide_share=none";
    case Fault::partly_shared:
      return "node-shared storage{of} (tide_share=node) is passed by some ranks of a node only, or "
             "at "
             "different offsets; all ranks of the node must pass the same range";
    case Fault::in_place_types:
      return "{param} has different shard and gathered types, which cannot be gathered in "
             "place; pass separate shards";
    case Fault::in_place_reduce:
      return "a reduce-scatter cannot run in place; pass separate gradients and shards";
    case Fault::bad_op:
      return "op is not MPIX_TIDE_SUM or MPIX_TIDE_AVG, with MPIX_TIDE_ACCUMULATE or "
             "MPIX_TIDE_NULL_IS_ZERO at most";
    case Fault::bad_out_dtype:
      return "out_dtype is not 0 or one of MPIX_TIDE_BF16, FP16, FP32, FP64";
    case Fault::out_dtype:
      return "out_dtype{of}: a gradient of this type is not summed into that type; use 0, its own "
             "type, FP32 (from BF16, FP16, FP32) or FP64 (from FP32, FP64)";
    case Fault::uint8_gradient:
      return "gradient{of} has type UINT8, which is not summed; give the parameter "
             "MPIX_TIDE_NOGRAD";
    case Fault::gather_types:
      return "types{of}: a shard of this type is not gathered as that type; use one type, or FP32 "
             "or "
             "FP64 shards gathered as BF16, FP16 or FP32";
    case Fault::bad_scale:
      return "scale is NaN or infinite; pass a finite scale";
    case Fault::null_list:
      return "a list of addresses is NULL although the group has parameters; pass an array with "
             "one entry per parameter";
    case Fault::differs:
      return "collective, group, op, scale or out_dtype differ between ranks; make the same call "
             "everywhere";
    case Fault::transfer:
      return "a transfer of memory that Tide did not allocate failed (its log line says which); "
             "allocate it with MPIX_Tide_alloc, or set tide_foreign=staged";
    case Fault::gave_up:
      return "the rank gave up (its own error says why)";
    case Fault::finalized:
      return "called MPI_Finalize while an operation was active; complete requests before that";
    case Fault::no_memory:
      return "ran out of memory while it entered the call; use fewer or smaller parameters per "
             "group";
    case Fault::unmapped_input:
      return "input{of} points to memory that this process does not have (TIDE_CHECK); pass memory "
             "that lives until the call completes";
    case Fault::unmapped_output:
      return "output{of} points to memory that this process does not have (TIDE_CHECK); pass "
             "memory "
             "that lives until the call completes";
    case Fault::silent:
      return "does not answer: it is stopped, gone, or outside of Tide for longer than "
             "tide_timeout";
    case Fault::not_entered:
      return "has not made this call, though it answers; it may compute for longer than "
             "tide_timeout, or make calls in another order";
    case Fault::elsewhere:
      return "has not made this call: it waits in a call on another communicator; make calls in "
             "the "
             "same order on all ranks";
    case Fault::stuck:
      return "answers but gets nowhere within tide_timeout; the network may be down";
    case Fault::lost:
      return "a connection to it is lost: the rank, its host or the network is gone; end the job";
    case Fault::mixed_memory:
      return "device memory and host memory come together in this call{of}; pass one kind of "
             "memory, "
             "for inputs and outputs, on all ranks";
    case Fault::multicast_of_host:
      return "passed host memory, of which tide_multicast=on can make no multicast address; pass "
             "device memory, or use auto, off or emulate";
    case Fault::other_device:
      return "memory{of} lies on another device than the communicator's first one; use one device "
             "per "
             "rank and communicator";
    case Fault::no_device:
      return "cannot use device memory in this call (its log line says why)";
    case Fault::unmapped_device:
      return "device memory{of} that MPIX_Tide_alloc did not give, or not for this communicator, "
             "is "
             "not mapped by its node; allocate it with MPIX_Tide_alloc, or create the group with "
             "tide_foreign=staged";
    case Fault::input_length:
      return "the list of inputs has {value} entries but the group has {wanted} parameters; pass "
             "one entry per parameter";
    case Fault::output_length:
      return "the list of outputs has {value} entries but the group has {wanted} parameters; pass "
             "one entry per parameter";
    case Fault::input_elems:
      return "input{of} is an array of {value} elements but {wanted} belong there; pass an array "
             "of that size (row_elems times all rows, or times the rank's rows)";
    case Fault::output_elems:
      return "output{of} is an array of {value} elements but {wanted} belong there; pass an array "
             "of that size (row_elems times all rows, or times the rank's rows)";
    case Fault::input_dtype:
      return "input{of} is an array of type {value} but {wanted} belongs there; pass an array of "
             "that type, or create the group with the array's";
    case Fault::output_dtype:
      return "output{of} is an array of type {value} but {wanted} belongs there; pass an array of "
             "that type, or create the group with the array's";
    case Fault::another_way:
      return "{in} while others of this communicator wait in another call; make calls in the same "
             "order on all ranks";
    case Fault::told:
      return "shard{of} does not fit the group (the rank's log line says its size or type); pass "
             "arrays of the shards' type and size";
    case Fault::replica_op:
      return "op is not MPIX_TIDE_SUM or MPIX_TIDE_AVG; shards are replaced, so flags do not apply";
    case Fault::replica_dtype:
      return "dtype is not 0 or one of MPIX_TIDE_BF16, FP16, FP32, FP64; pass the element type of "
             "the shards";
    case Fault::replica_null:
      return "shard{of} is NULL although its piece is not empty; pass its address";
    case Fault::replica_unaligned:
      return "shard{of} is not aligned to its element size; pass an element-aligned address";
  }
  return "unknown fault";
}

Kind kind_of(const Status& status) {
  const auto kind = static_cast<Kind>(status.kind);
  const bool tide = kind >= Kind::mismatch && kind <= Kind::device;
  return tide || (kind >= Kind::arg && kind <= Kind::other) ? kind : Kind::intern;
}

// Of an element count that did not fit, and of the types of an array (its kind in Fortran).
static std::string passed(const Status& status) {
  if (status.fault == Fault::input_dtype || status.fault == Fault::output_dtype)
    return status.value == MPIX_TIDE_TWO_BYTES ? "bf16 or fp16" : dtype_name(status.value);
  return fmt::format("{}{}", status.value == INT32_MAX ? "at least " : "", status.value);
}

std::string describe(const Status& status, const std::string& param_name, int64_t wanted) {
  std::string param;
  if (status.param >= 0) {
    param = fmt::format("parameter {}", status.param);
    if (!param_name.empty()) param += fmt::format(" ({})", param_name);
  }
  const auto call = static_cast<SetupCall>(static_cast<uint8_t>(status.value));
  const std::string in =
      call == SetupCall::none ? "has made other calls" : fmt::format("is in {}", name(call));
  const bool type = status.fault == Fault::input_dtype || status.fault == Fault::output_dtype;
  return fmt::format("rank {}: {}", status.rank,
                     fmt::format(fmt::runtime(words(status.fault)), fmt::arg("param", param),
                                 fmt::arg("of", param.empty() ? "" : " of " + param),
                                 fmt::arg("value", passed(status)), fmt::arg("in", in),
                                 fmt::arg("wanted", type ? dtype_name(static_cast<int>(wanted))
                                                         : std::to_string(wanted))));
}

}  // namespace tide
