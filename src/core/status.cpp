// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/status.hpp"

namespace tide {

static const char* words(Fault fault) {
  switch (fault) {
    case Fault::none:
      return "no fault";
    case Fault::null_input:
      return "input{} is NULL although its piece is not empty; pass its address (a reduce-scatter "
             "may pass MPIX_TIDE_NULL_IS_ZERO)";
    case Fault::null_output:
      return "output{} is NULL although its piece is not empty; pass its address";
    case Fault::unaligned_input:
      return "input{} is not aligned to its element size; pass an element-aligned address";
    case Fault::unaligned_output:
      return "output{} is not aligned to its element size; pass an element-aligned address";
    case Fault::inputs_in_outputs:
      return "input and output{} overlap; only this rank's own rows of the parameter (or "
             "MPIX_TIDE_IN_PLACE) may be gathered in place";
    case Fault::grads_in_outputs:
      return "gradient{} overlaps an output; a reduce-scatter needs shards apart from its "
             "gradients";
    case Fault::outputs_overlap:
      return "output{} overlaps another output; give every parameter storage of its own";
    case Fault::shared_gradient:
      return "gradient{} lies in node-shared memory (tide_share=node), which ranks would overwrite "
             "for each other; allocate gradients with tide_share=none";
    case Fault::shared_output:
      return "reduce-scatter output{} lies in node-shared memory (tide_share=node); allocate "
             "shards with tide_share=none";
    case Fault::partly_shared:
      return "node-shared storage{} (tide_share=node) is passed by some ranks of a node only, or "
             "at "
             "different offsets; all ranks of the node must pass the same range";
    case Fault::in_place_types:
      return "parameter{} has different shard and gathered types, which cannot be gathered in "
             "place; pass separate shards";
    case Fault::in_place_reduce:
      return "a reduce-scatter cannot run in place; pass separate gradients and shards";
    case Fault::bad_op:
      return "op is not MPIX_TIDE_SUM or MPIX_TIDE_AVG, with MPIX_TIDE_ACCUMULATE or "
             "MPIX_TIDE_NULL_IS_ZERO at most";
    case Fault::bad_out_dtype:
      return "out_dtype is not 0 or one of MPIX_TIDE_BF16, FP16, FP32, FP64";
    case Fault::out_dtype:
      return "out_dtype{}: a gradient of this type is not summed into that type; use 0, its own "
             "type, FP32 (from BF16, FP16, FP32) or FP64 (from FP32, FP64)";
    case Fault::uint8_gradient:
      return "gradient{} has type UINT8, which is not summed; give the parameter MPIX_TIDE_NOGRAD";
    case Fault::gather_types:
      return "types{}: a shard of this type is not gathered as that type; use one type, or FP32 or "
             "FP64 shards gathered as BF16, FP16 or FP32";
    case Fault::bad_scale:
      return "scale is not a number; pass a finite scale";
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
      return "input{} points to memory that this process does not have (TIDE_CHECK); pass memory "
             "that lives until the call completes";
    case Fault::unmapped_output:
      return "output{} points to memory that this process does not have (TIDE_CHECK); pass memory "
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
    case Fault::replica_op:
      return "op is not MPIX_TIDE_SUM or MPIX_TIDE_AVG; shards are replaced, so flags do not apply";
    case Fault::replica_dtype:
      return "dtype is not 0 or one of MPIX_TIDE_BF16, FP16, FP32, FP64; pass the element type of "
             "the shards";
    case Fault::replica_null:
      return "shard{} is NULL although its piece is not empty; pass its address";
    case Fault::replica_unaligned:
      return "shard{} is not aligned to its element size; pass an element-aligned address";
  }
  return "unknown fault";
}

Kind kind_of(const Status& status) {
  const auto kind = static_cast<Kind>(status.kind);
  const bool tide = kind >= Kind::mismatch && kind <= Kind::device;
  return tide || (kind >= Kind::arg && kind <= Kind::other) ? kind : Kind::intern;
}

std::string describe(const Status& status, const std::string& param_name) {
  std::string where;
  if (status.param >= 0) {
    where = fmt::format(" of parameter {}", status.param);
    if (!param_name.empty()) where += fmt::format(" ({})", param_name);
  }
  return fmt::format("rank {}: {}", status.rank,
                     fmt::format(fmt::runtime(words(status.fault)), where));
}

}  // namespace tide
