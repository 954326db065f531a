// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A rank gets no turn any more from some moment on: every other rank has TIMEOUT within the bound
// and names that rank.  Long after, the rank comes back, to an error and not to a hang.
#include "operation.hpp"
#include "run.hpp"
#include "world.hpp"

namespace simulator {

using namespace tide_test;

constexpr uint64_t stall_us = 100'000'000;  // far beyond every bound
constexpr uint64_t most_calls = 100'000;    // more than there are before the stall

static void call_until_error(const Case& shape, int culprit, double timeout_s, uint64_t begins_us) {
  Team team;
  MPI_Comm_dup(MPI_COMM_WORLD, &team.comm);
  MPI_Comm_rank(team.comm, &team.rank);
  MPI_Comm_size(team.comm, &team.size);
  team.node = shape.nodes;
  team.members = ranks_by_node(team.node);
  const std::string limit = std::to_string(timeout_s), name = "rank " + std::to_string(culprit);
  Info info{{"tide_timeout", limit}, {"tide_chunk_bytes", "256"}};
  Operation gather(team, tide_test::Collective::gather, {param(64, 33), param(5, 3)}, {}, info);
  Operation sums(team, tide_test::Collective::reduce, {param(23, 7), param(5, 3)}, {}, info);
  int code = MPI_SUCCESS;
  for (uint64_t round = 0; code == MPI_SUCCESS && round < most_calls; round++) {
    Operation& next = round % 2 ? sums : gather;
    next.write(round);
    schedule()->doing("call " + std::to_string(round));
    code = next.call();
    if (code == MPI_SUCCESS) next.expect_result("before the stall is noticed");
  }
  const double noticed_s = static_cast<double>(schedule()->now_us() - begins_us) * 1e-6;
  if (team.rank != culprit) {
    expect_failure(code, {{MPIX_TIDE_ERR_TIMEOUT, 0}}, {name});
    EXPECT_LT(noticed_s, 2 * timeout_s + 1) << "after the stall began";
  } else {
    EXPECT_NE(MPI_SUCCESS, code) << "the rank that came back was told nothing";
  }
  schedule()->doing("end");
  MPI_Comm_free(&team.comm);
}

Outcome run_stall(uint64_t seed, const Mode& mode) {
  Case shape;
  const int ranks = 2 + static_cast<int>(mix(seed, 1) % 6);
  shape.nodes = random_nodes(mix(seed, 2), ranks);
  const int culprit = static_cast<int>(mix(seed, 3) % static_cast<uint64_t>(ranks));
  const uint64_t begins_us = 40'000 + mix(seed, 4) % 200'000;
  Mode stalled = mode;
  stalled.stalls.push_back({culprit, begins_us, begins_us + stall_us});
  stalled.leaves_behind = true;  // a communicator that was given up keeps what peers may still use
  return run_ranks(shape.fake_nodes(), ranks, stalled, [&](int) {
    call_until_error(shape, culprit, mix(seed, 5) % 2 ? 0.5 : 2, begins_us);
  });
}

}  // namespace simulator
