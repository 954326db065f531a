// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contest.hpp"

namespace perf {

/// A line on stderr from rank 0, on a terminal or once a run has taken more than five seconds.
class Progress {
 public:
  explicit Progress(int rank);
  ~Progress();
  void say(const std::string& what, int done, int all);

 private:
  bool speaks_, terminal_, wrote_ = false;
  double begin_, next_;
};

/// Runs every contestant once on poisoned results and compares them with the exact ones.
/// Collective; throws AgreedError on all ranks at the first difference.
void verify_all(MPI_Comm comm, const std::vector<Contestant>& contestants, const char* when);

/// samples[contestant][repetition]: seconds from a barrier until the slowest rank returns.  Each
/// repetition runs all contestants in a fresh random order, so that a disturbance of the machine
/// falls on all alike.
std::vector<std::vector<double>> measure(MPI_Comm comm, const std::vector<Contestant>& contestants,
                                         int warmup, int reps, std::uint64_t seed,
                                         Progress& progress);

/// The times of the first `calls` calls, the slowest rank's each.
std::vector<double> measure_first(MPI_Comm comm, const Contestant& contestant, int calls);

}  // namespace perf
