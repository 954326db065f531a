// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// V38: ranks with the same host name in containers of their own.  Each leaves its namespace after
// MPI_Init and before Tide's first use, so that MPI goes on as it was and only Tide is tested.
#include <sched.h>
#include <sys/mount.h>

#include <cstring>

#include "list.hpp"

namespace tide_test {
namespace {

void expect_nodes(const Team& team, int nodes) {
  MPIX_Tide_topology topology;
  TIDE_OK(MPIX_Tide_comm_topology(team.comm, &topology));
  EXPECT_EQ(nodes, topology.nodes);
  EXPECT_EQ(nodes == 1 ? team.size : 1, topology.local_size);
}

void expect_exact(const Team& team) {
  List list(team, usual_list(MPIX_TIDE_BF16));
  for (const Memory memory : {Memory::tide, Memory::foreign}) {
    check_allgather(list, {.shards = memory, .params = memory});
    check_reduce_scatter(list, {.grads = memory, .shards = memory, .out_dtype = MPIX_TIDE_FP32});
  }
}

bool everybody(bool done) { return on_all(world(), done); }

// Descriptors still pass between the ranks, so that they are one node.
TEST(Apart, PrivateDevShmDoesNotPartThem) {
  if (!everybody(unshare(CLONE_NEWNS) == 0)) GTEST_SKIP() << "unshare is not permitted (root?)";
  ASSERT_EQ(0, mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
  ASSERT_EQ(0, mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=1m")) << std::strerror(errno);
  expect_nodes(world(), 1);
  expect_exact(world());
}

// Abstract sockets belong to a network namespace: no descriptor passes, every rank is a node of its
// own, and everything is exact over the rails.
void part(bool last_only) {
  const bool leaves = !last_only || world().rank == world().size - 1;
  if (!everybody(!leaves || unshare(CLONE_NEWNET) == 0))
    GTEST_SKIP() << "unshare is not permitted (root?)";
  const Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  expect_nodes(team, team.size);
  expect_exact(team);
  const Comm reversed(split(comm, 0, -team.rank));
  expect_nodes(team_of(reversed), team.size);
  expect_exact(team_of(reversed));
}
TEST(Apart, OwnNetworksMakeOwnNodes) { part(false); }
TEST(Apart, OneOwnNetworkMakesOwnNodes) { part(true); }

}  // namespace
}  // namespace tide_test
