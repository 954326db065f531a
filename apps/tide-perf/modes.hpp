// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "measure.hpp"
#include "options.hpp"
#include "results.hpp"

// What --overlap and --skew measure instead of calls of their own.
namespace perf {

/// The library's operation driven by its thread and by test, and MPI's own, each alone and behind
/// two computations; fills overlap_rows and, for the reduce-scatter, inputs_rows.  Collective;
/// throws AgreedError on all ranks at the first wrong result.
void measure_overlap(const Options& o, Workload& w, bool allgather, Result& result);

/// The contestants with every rank late by a random time; fills skew_rows.  Collective.
void measure_skew(const Options& o, Workload& w, const std::vector<Contestant>& contestants,
                  Result& result);

}  // namespace perf
