// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The schedule of a training step, layer by layer: which slot the parameters and gradients of each
// visit use, what is started and what is waited for in which call, and how many bytes that takes.
// Pure: the same on every rank, made before any memory is taken.
//
// A visit is one use of a layer: the forward visits in order, then the backward ones.  Its calls
// are gather, grads (backward, unless frozen), release and reduce.  A residency is the time for
// which a slot holds the parameters, or the gradients, of a layer:
//   parameters  from the call that starts the gather, `prefetch` visits ahead, to the end of the
//               last visit that shares them.  Visits at most `prefetch` (at least 1) apart share:
//               in between the gather would only be started anew.  A kept layer has one residency.
//   gradients   from grads of the layer's first backward visit until the reduction has read them.
// In-Place: two pools.  Gradients are read during the visit after their last one, so two of them
// live at a time, and nothing waits.
// Slot-Reuse: one pool that rotates.  The gradients of a visit stand in the slot that the
// parameters of the visit before have left; the gather that is started next takes the slot of the
// gradients before these, and begins once they have been read (`after`).  No byte is copied.
// Where slots for either kind would take over a sixteenth more memory (gradients wider than
// parameters, very uneven layers) the gradients have a slot of their own and wait for it
// (wait_read). Slots are shared as in Pisarchyk and Lee, "Efficient Memory Management for Deep
// Neural Net Inference" (2020): by time and by size, the smaller total wins.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tide {

enum class PipelineMode { in_place = 1, slot_reuse = 2 };

struct LayerShape {
  int64_t param_bytes = 0, grad_bytes = 0;
  bool keep = false, frozen = false;
};

struct PipelineShape {
  std::vector<LayerShape> layers;
  std::vector<int> forward, backward;  // layers in the order of their visits
  PipelineMode mode = PipelineMode::in_place;
  int prefetch = 0;  // visits
  bool reshard_after_forward = true;
  bool accumulate = false;  // gradients outlive a micro-batch: each layer has storage of its own

  int visits() const { return static_cast<int>(forward.size() + backward.size()); }
  bool is_backward(int visit) const { return visit >= static_cast<int>(forward.size()); }
  int layer(int visit) const {
    const auto v = static_cast<size_t>(visit);
    return v < forward.size() ? forward[v] : backward[v - forward.size()];
  }
  bool keeps(int layer) const {
    return !reshard_after_forward || layers[static_cast<size_t>(layer)].keep;
  }
};

struct Step {
  enum class What {
    gather,       // start the all-gather of `layer` into `slot`; it enters once the reduction of
                  // layer `after` (-1: of none) has read its gradients
    wait_gather,  // until it is complete
    wait_read,    // until the reduction of `layer` has read its gradients
    clear,        // `slot` holds the gradients of `layer` from now on: zeroed
    reduce,       // start the reduce-scatter of `layer` from `slot`
    wait_reduce   // until it is complete
  } what = What::gather;
  int layer = 0, slot = -1, after = -1;
  bool operator==(const Step&) const = default;
};

struct Visit {
  int layer = 0;
  bool backward = false;
  int param_slot = -1, grad_slot = -1;  // -1: no gradients here
  bool vacates = false;                 // its release ends the residency of the parameters
  std::vector<Step> gather, grads, reduce;
};

struct Slot {
  int64_t bytes = 0;
  bool params = false, grads = false;  // what it holds at some time
};

struct Schedule {
  std::vector<Slot> slots;
  std::vector<Visit> visits;
  std::vector<Step> begin, finish;
  int64_t param_bytes = 0;  // most that hold parameters at a time, as slots are
  int64_t grad_bytes = 0;   // all the other bytes of slots
  int64_t total_bytes() const { return param_bytes + grad_bytes; }
};

// The shape's lists name layers below layers.size(); prefetch >= 0.
Schedule make_schedule(const PipelineShape& shape);

}  // namespace tide
