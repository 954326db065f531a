// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Ranks over the simulated MPI, in this process, for harnesses that need some.  One rank runs at a
// time, so that they may share plain variables.
#pragma once
#include <functional>

#include "input.hpp"

namespace fuzz {

// body(rank) between MPI_Init and MPI_Finalize.  All on one node.  A deadlock, or anything left
// behind, is a finding.
void run_ranks(int ranks, const std::function<void(int)>& body);
void sleep_us(uint64_t time_us);  // of the simulated time: the others run meanwhile
int live_requests();              // of this rank's MPI

}  // namespace fuzz
