// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "contest.hpp"
#include "options.hpp"
#include "results.hpp"

namespace perf::gpu {

/// What the calls cost a computation on the same device: each victim (a graph of GEMMs on a stream
/// of its own) alone and with a contestant's calls until it ends on all ranks, back to back or at
/// each rate of --rate, in turn (A B A B ...); fills beside_rows.  Collective; throws AgreedError
/// on all ranks at the first wrong result, or where cuBLAS cannot be had.
void measure_beside(const Options& o, Workload& w, const std::vector<Contestant>& contestants,
                    Result& result);

}  // namespace perf::gpu
