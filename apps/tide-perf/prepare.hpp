// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contest.hpp"
#include "options.hpp"

namespace perf {

/// Refuses a run that the host's memory cannot hold: one that swaps, or whose rank is killed, gives
/// no number.  Collective; throws tools::AgreedError on all ranks.
void check_memory(const Options& options, const Workload& w, bool allgather);

/// Allocates inputs and outputs of one collective, touches them and writes the patterns.
/// Collective; throws tools::AgreedError on all ranks.
void fill_allgather(Workload& w);
void fill_reduce_scatter(Workload& w);

}  // namespace perf
