// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "measure.hpp"
#include "options.hpp"
#include "results.hpp"

// What --overlap and --skew measure instead of calls of their own.
namespace perf {

/// The library's operation, driven as result.progress says, and MPI's own, each alone and behind
/// two computations; fills overlap_rows and, for the reduce-scatter, inputs_rows.  Once a group has
/// asked for the thread it serves the whole process: what is polled comes first.  Collective;
/// throws AgreedError on all ranks at the first wrong result.
void measure_overlap(const Options& o, Workload& w, bool allgather, Result& result);

/// The reduce-scatter's wait_inputs for the values of --workspace; fills inputs_rows.  Collective.
void measure_inputs(const Options& o, Workload& w, Progress& progress, Result& result);

/// The contestants with every rank late by a random time; fills skew_rows.  Collective.
void measure_skew(const Options& o, Workload& w, const std::vector<Contestant>& contestants,
                  Result& result);

}  // namespace perf
