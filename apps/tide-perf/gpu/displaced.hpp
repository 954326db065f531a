// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "contest.hpp"
#include "options.hpp"
#include "results.hpp"

namespace perf::gpu {

/// Which blocks of a kernel that fills the device once (gpu/blocks.hpp) find a multiprocessor
/// taken: alone, and with a contestant's calls back to back, in turn (A B A B ...); fills
/// displaced_rows.  Collective; throws AgreedError on all ranks at the first wrong result.
void measure_displaced(const Options& o, Workload& w, const std::vector<Contestant>& contestants,
                       Result& result);

}  // namespace perf::gpu
