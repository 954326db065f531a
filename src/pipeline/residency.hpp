// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// When slots are needed, and which residencies share one.  A visit has four points in time: its
// gather call starts gathers (0) and has its parameters (1), grads (2), its end (3).
#pragma once
#include <climits>

#include "pipeline/schedule.hpp"

namespace tide {

constexpr int before_visits = -1, points = 4;
inline int starts(int visit) { return points * visit; }
inline int wants_grads(int visit) { return points * visit + 2; }
inline int ends(int visit) { return points * visit + 3; }

struct Residency {
  int layer = 0;
  bool grads = false;
  int first = 0, last = 0;          // visits
  int from = 0;                     // points: [from, to), and for gradients
  int to_params = 0, to_grads = 0;  // until a residency of that kind may take the slot
  int64_t bytes = 0;
  int slot = -1;
};

// How a mode lets slots be taken over.
struct SlotRules {
  bool one_pool = false;    // parameters and gradients share slots
  bool wait_reads = false;  // gradients wait for the reads of those before them
};

std::vector<Residency> residencies(const PipelineShape& shape, const SlotRules& rules);

// Sets Residency::slot; the slots of the best of several orders, by their bytes.
std::vector<Slot> assign_slots(std::vector<Residency>& all, const SlotRules& rules);

}  // namespace tide
