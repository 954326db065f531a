// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A backend turns a plan's symbolic regions into addresses and carries operations out.  One of the
// two virtual classes.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "backend/host/kernels.hpp"
#include "backend/multicast.hpp"
#include "plan/plan.hpp"

namespace tide {

class Rail;

// Where a rank's copy of a parameter (or gradient) is for this process: mapped, or only known by
// its owner's address.
struct Pointer {
  void* here = nullptr;  // in this process; null: not mapped
  uint64_t there = 0;    // in the owner's process; 0: the owner passed NULL
};

struct Types {               // of each parameter, as this collective sees them
  std::vector<Dtype> param;  // gathered type, or gradient type
  std::vector<Dtype> shard;  // shard type, or output type
  std::vector<Dtype> acc;    // accumulation type; empty for an all-gather
};

struct Addresses {
  std::vector<const Pointer*> param;  // [local rank][parameter]: gathered parameters, or gradients
  const void* const* shard_in =
      nullptr;                       // [parameter], all-gather: own shards; a null entry: in place
  void* const* shard_out = nullptr;  // [parameter], reduce-scatter: own shards
  std::vector<char*> workspace;      // [local rank]: start of the slot's workspace
  std::vector<int> pid;              // [local rank]
  // Of tide_multicast.  [parameter], of its start: empty where none has one; of the slot's
  // workspace.
  std::vector<MulticastPlace> multicast;
  MulticastPlace workspace_multicast;
  const MulticastPlace* multicast_of(int param) const {
    if (multicast.empty()) return nullptr;
    const MulticastPlace& place = multicast[static_cast<size_t>(param)];
    return place.of ? &place : nullptr;
  }
};

struct Cursor {
  size_t op = 0;      // next operation of the lane
  size_t offset = 0;  // bytes of its interval that are done
};

namespace gpu {
struct Binding;
}

// One call on its way: everything a backend needs, nothing that it allocates while it runs.
struct Work {
  const Plan* plan = nullptr;
  Rail* rail = nullptr;  // null on one node
  const Layout* layout = nullptr;
  const Topology* topology = nullptr;
  const Types* types = nullptr;
  Addresses addresses;
  Arithmetic arithmetic;
  bool in_place = false;
  bool switch_adds = false;  // a switch may add the gradients of a node, in an order of its own
  bool stream = false;       // outputs are large: store around the cache
  int rank = 0, slot = 0;
  size_t inflight_bytes = 0;  // cap of this rank's puts in flight
  uint64_t call = 0;
  std::array<Cursor, lane_count> lanes;
  std::vector<uint64_t> sent;  // [local rank * index_count + index]: signals of this call
  std::vector<std::pair<size_t, Signal>>
      after_puts;  // rail lane: signals that wait for put number `first`
  size_t puts = 0;
  // Device memory: what was lowered for earlier calls of this kind, the latest last.
  std::vector<std::shared_ptr<const gpu::Binding>>* bindings = nullptr;
  int sum_ctas = 16, landing_ctas = 64;
  double landing_bytes_per_s = 0;  // cap of what this rank lands on devices; 0: none
  bool failed =
      false;  // a transfer failed: the call goes on, so that nobody hangs, and ends with an error
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* name() const = 0;
  virtual Limits limits() const = 0;
  // Carries out the plan's copies before the entry.
  virtual void before_entry(Work& work) = 0;
  // Goes on with one lane until it must wait, ends, or has moved a slice.  True if anything was
  // done.
  virtual bool advance(Work& work, Lane lane) = 0;
  // What the lane has done so far is there for everybody.
  virtual bool settled(Work& work, Lane lane) = 0;
  // Nobody will read this rank's inputs in this call any more.
  virtual bool inputs_read(Work& work) = 0;
};

// --- work.cpp ---
// Whose work it is: room for its node's addresses and signals.
void place(Work& work, const Topology& topology, int rank);
// Each lane goes on once.  True if anything was done; `through` stays as it is if all have ended,
// else it becomes false.
bool drive_lanes(Backend& backend, Work& work, bool& through);

}  // namespace tide
