// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Where the time of a training step went, and the memory of a rank: planned beside measured.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "weights.hpp"

namespace train {

struct StepTimes {
  std::vector<double> seconds;  // of each step of this run
  Exposed exposed;              // of all of them together
  double agreement = 0;         // on signals
};

/// Seconds of a step by kind: means over ranks and steps.
struct StepParts {
  double step = 0, gathers = 0, reductions = 0, other = 0, agreement = 0;
  double exposed() const { return gathers + reductions + other + agreement; }
  double computation() const { return step - exposed(); }
};
/// Collective.
StepParts step_parts(MPI_Comm comm, const StepTimes& times);

struct Memory {
  Planned planned;
  int64_t application = 0;  // activations, batches, one layer in fp32
  int64_t measured = 0;     // proportional set size since before
};

/// Proportional set size of this process in bytes: memory that n processes share counts as 1/n of
/// it for each.  0 where the system does not tell.
int64_t proportional_set();

/// Collective; what rank 0 prints, with bars.
std::string draw_breakdown(MPI_Comm comm, const StepTimes& times, const Memory& memory);

}  // namespace train
