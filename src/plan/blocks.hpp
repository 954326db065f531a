// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What both planners share.  Rail i of node m carries a *block*: the packed shards of local ranks
// i, i + g, ... of that node, one after another.  Local rank i < g of a node is the rail's carrier
// there.
#pragma once
#include <algorithm>

#include "plan/plan.hpp"

namespace tide {

inline size_t block_bytes(const Topology& t, const Layout& y, int m, int rail) {
  size_t bytes = 0;
  for (int l = rail; l < t.size(m); l += t.rails()) bytes += y.packed_bytes(t.rank(m, l));
  return bytes;
}

inline size_t largest_elem_bytes(const Layout& y) {
  size_t most = 1;
  for (int p = 0; p < y.params(); p++) most = std::max(most, y.elem_bytes(p));
  return most;
}

// Fills in inputs, puts, put_bytes and copied_bytes from the operations.  `input` is the buffer
// that holds the call's inputs.
void total_up(Plan& plan, Buffer input, int local_ranks);

}  // namespace tide
