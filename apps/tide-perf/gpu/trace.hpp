// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "contest.hpp"
#include "options.hpp"
#include "results.hpp"

namespace perf::gpu {

/// CUPTI for the session, if the options ask for it.  To be called before the device has a context:
/// what is made without CUPTI might be launched without a record.  Returns its version in words, or
/// nothing.  Collective; throws AgreedError where it cannot be had.
std::string open_trace(const Options& o, MPI_Comm comm, Session& session);

/// What each call makes the device do, as CUPTI records it; fills trace_rows.  Collective; throws
/// AgreedError on all ranks at the first wrong result, or where records are lost.
void measure_trace(const Options& o, Workload& w, const std::vector<Contestant>& contestants,
                   Result& result);

}  // namespace perf::gpu
