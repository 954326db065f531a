// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contest.hpp"
#include "gpu/victim.hpp"
#include "pace.hpp"

// A victim alone and beside a contestant's calls, in turn.  All are collective.
namespace perf::gpu {

/// Of all ranks: the slowest's time.
double largest(MPI_Comm comm, double value);

/// Seconds of the victim with nothing beside it, the slowest rank's.
double time_alone(MPI_Comm comm, Victim& victim);

/// Seconds of one call, where `calls` follow one another.
double time_calls(MPI_Comm comm, const Contestant& c, int calls);

/// How many calls to make between two agreements of the ranks: about a millisecond's.
int calls_between(MPI_Comm comm, const Contestant& c, const Pace& pace = {});

struct Beside {
  double victim_s, calls_per_s;
};

/// Calls at their pace until the victim has ended on all ranks, about which they agree every
/// `between` calls.  Counted are those that returned before this rank's own victim had ended.
Beside time_beside(MPI_Comm comm, Victim& victim, const Contestant& c, int between,
                   const Pace& pace = {});

}  // namespace perf::gpu
