// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Proof of plans: carries out the plans of all ranks in one process, on symbols instead of numbers.
//   Values: each byte range holds (place in whose packed shard, ordered expression of the
//   contributions); so a byte that lands elsewhere, twice or never, a contribution that is missing,
//   double or out of order, and stale data are all seen. Order: with `clocks`, vector clocks find
//   every pair of accesses that nothing orders, in any interleaving.  A put reads its source until
//   a later Signal of its lane; it may write its destination from the Signal that opens it until
//   the Wait for it. Progress: lanes in random turns, or each rank's operations as a single queue
//   in emission order; puts arrive late, ordered per peer only.
// Without sync_in_plan a call begins when all ranks have ended the last one.  Throws
// std::runtime_error on a defect.
#pragma once
#include <cstddef>
#include <vector>

#include "plan/plan.hpp"

namespace tide {

enum class Collective { allgather, reduce_scatter };

struct CheckOptions {
  Collective collective = Collective::allgather;
  bool clocks = true;
  bool single_queue = false;
  bool two_sided =
      false;  // grants and credits are not sent: a put waits for its receive to be posted
  bool rank_order = false;
  bool balance =
      true;  // signals sent == waited for, one lane each side; off for plans mutilated on purpose
  bool random = true;  // short random turns; else each lane runs as far as it can
  unsigned seed = 1;
  int calls = 2;  // back to back
};

struct CheckResult {
  size_t operations = 0;
};

CheckResult check(const Topology&, const Layout&, const std::vector<Plan>&, const Limits&,
                  const CheckOptions&);

}  // namespace tide
