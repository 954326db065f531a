// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>

#include "random_case.hpp"
#include "schedule.hpp"

namespace simulator {

struct Outcome {
  std::string failure;  // empty: all is well
  uint64_t log_hash = 0, turns = 0;
  double simulated_s = 0;
};

// Runs body(rank) on every rank of a fresh world, between MPI_Init and MPI_Finalize, and looks for
// what it left behind.  Nodes: TIDE_FAKE_NODES.  late(rank) runs after MPI_Finalize.
Outcome run_ranks(const std::string& nodes, int ranks, const Mode& mode,
                  const std::function<void(int)>& body, const std::function<void(int)>& late = {});
// Every call of the case, each compared with the definition.
Outcome run_case(const Case& c, const Mode& mode);
// Memory is refused to a rank at some call: every rank hears of it, and the next attempt works.
Outcome run_refusal(uint64_t seed, const Mode& mode);
Outcome run_requests(uint64_t seed, const Mode& mode);  // nonblocking and persistent calls
Outcome run_stall(uint64_t seed, const Mode& mode);     // a rank that stops, and comes back

}  // namespace simulator
