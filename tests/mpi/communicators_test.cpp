// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Groups on all sorts of communicators, orders of freeing, and where a communicator lives.  Any
// ranks, any map.
#include <algorithm>

#include "list.hpp"

namespace tide_test {
namespace {

void check_team(const Team& team) {
  List list(team, {param(11, 5), param(2, 3), param(64, 9, MPIX_TIDE_FP32)});
  for (Memory memory : {Memory::tide, Memory::by_rank}) {
    check_allgather(list, {.shards = memory, .params = memory, .salt = 3});
    check_reduce_scatter(list, {.grads = memory, .shards = memory, .pattern = rough});
    check_reduce_scatter(
        list, {.grads = memory, .op = MPIX_TIDE_AVG, .accumulate = true, .pattern = rough});
  }
}

TEST(Teams, World) { check_team(world()); }

TEST(Teams, Dup) {
  Comm comm(dup(MPI_COMM_WORLD));
  check_team(team_of(comm));
}

TEST(Teams, Reversed) {
  Comm comm(split(MPI_COMM_WORLD, 0, -world().rank));
  check_team(team_of(comm));
}

TEST(Teams, OddAndEven) {
  Comm comm(split(MPI_COMM_WORLD, world().rank % 2, world().rank));
  check_team(team_of(comm));
}

TEST(Teams, Halves) {
  Comm comm(split(MPI_COMM_WORLD, 2 * world().rank < world().size, world().rank));
  check_team(team_of(comm));
}

TEST(Teams, WithGapsAndShuffled) {
  const bool out = world().size > 2 && world().rank % 3 == 1;
  Comm comm(split(MPI_COMM_WORLD, out ? -1 : 0,
                  static_cast<int>(mix(7, static_cast<uint64_t>(world().rank)) % 1000)));
  if (comm != MPI_COMM_NULL) check_team(team_of(comm));
}

TEST(Teams, Self) {
  check_team(team_of(MPI_COMM_SELF));
  Comm comm(dup(MPI_COMM_SELF));
  check_team(team_of(comm));
}

TEST(Teams, OverlappingAndInterleaved) {
  Comm reversed(split(MPI_COMM_WORLD, 0, -world().rank)),
      part(split(MPI_COMM_WORLD, world().rank % 2, world().rank));
  List a(world(), {param(9, 5)}), b(team_of(reversed), {param(9, 5)}),
      c(team_of(part), {param(7, 3)}), d(team_of(MPI_COMM_SELF), {param(3, 3)});
  for (uint64_t round = 1; round <= 5; ++round) {
    check_allgather(a, {.salt = round});
    check_reduce_scatter(c, {.pattern = rough});
    check_allgather(b, {.shards = Memory::foreign, .salt = round});
    check_reduce_scatter(d, {.pattern = rough});
    check_reduce_scatter(b, {.pattern = rough});
    check_allgather(c, {.salt = round});
  }
}

TEST(FreeOrder, CommunicatorFirstThenGroup) {
  Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  MPIX_Tide_group group;
  {
    List list(team, {param(9, 5)});
    Pieces shards(team, Memory::tide, list.shard_bytes()),
        full(team, Memory::foreign, list.full_bytes());
    comm.free();
    for (uint64_t salt = 1; salt < 3; ++salt) {  // the group keeps what it needs
      write_shards(list, shards.list(), salt);
      TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), full.list(), list.group()));
      expect_gathered(list, full.list(), salt, "after MPI_Comm_free");
    }
    group = list.group();
    list.forget_group();
  }
  TIDE_OK(MPIX_Tide_group_free(&group));
  EXPECT_EQ(MPIX_TIDE_GROUP_NULL, group);
}

TEST(FreeOrder, AnyOrderOnEachRank) {
  for (int round = 0; round < 6; ++round) {
    Comm comm(dup(MPI_COMM_WORLD)), other(dup(MPI_COMM_WORLD));
    MPIX_Tide_group groups[3];
    const MPIX_Tide_param p = param(9, 5);
    for (int g = 0; g < 3; ++g)
      TIDE_OK(MPIX_Tide_group_create(g == 2 ? other : comm, 1, &p, MPI_INFO_NULL, &groups[g]));
    void* base = nullptr;
    TIDE_OK(MPIX_Tide_alloc(comm, 8192, MPI_INFO_NULL, &base));
    // group_free and MPIX_Tide_free are local: ranks take different orders.
    const int turn = (round + world().rank) % 3;
    for (int step = 0; step < 3; ++step) TIDE_OK(MPIX_Tide_group_free(&groups[(step + turn) % 3]));
    if (round % 2) comm.free();
    TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
  }
  expect_usable(world());
}

TEST(FreeOrder, GroupFreeWaitsForNobody) {
  Comm comm(dup(MPI_COMM_WORLD));
  List first(team_of(comm), {param(9, 5)}), second(team_of(comm), {param(5, 3)});
  check_allgather(first);
  if (world().rank == 0) {  // one rank frees early; the communicator's other group goes on
    MPIX_Tide_group group = first.group();
    first.forget_group();
    TIDE_OK(MPIX_Tide_group_free(&group));
  }
  check_allgather(second);
  check_reduce_scatter(second);
}

TEST(Topology, IsWhatTheMapSays) {
  for (int kind = 0; kind < 3; ++kind) {
    Comm comm(kind == 0   ? dup(MPI_COMM_WORLD)
              : kind == 1 ? split(MPI_COMM_WORLD, 0, -world().rank)
                          : split(MPI_COMM_WORLD, world().rank % 2, 0));
    const Team team = team_of(comm);
    MPIX_Tide_topology told;
    TIDE_OK(MPIX_Tide_comm_topology(comm, &told));
    EXPECT_EQ(static_cast<int>(team.members.size()), told.nodes);
    EXPECT_EQ(team.my_node(), told.node);
    EXPECT_EQ(team.my_local(), told.local_rank);
    EXPECT_EQ(static_cast<int>(team.members[static_cast<size_t>(team.my_node())].size()),
              told.local_size);
    EXPECT_EQ(team.uniform(), told.uniform != 0);
  }
}

// The world ranks of a communicator, in its order.
std::vector<int> world_ranks(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<int> ranks(static_cast<size_t>(size));
  MPI_Allgather(&world().rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, comm);
  return ranks;
}

TEST(Topology, NodeCommunicator) {
  MPI_Comm node = MPI_COMM_NULL;
  TIDE_OK(MPIX_Tide_comm_node(MPI_COMM_WORLD, &node));
  ASSERT_TRUE(node != MPI_COMM_NULL);
  Comm owner(node);
  EXPECT_EQ(world().members[static_cast<size_t>(world().my_node())], world_ranks(node));
}

TEST(Topology, RailCommunicator) {
  MPI_Comm rail = MPI_COMM_NULL;
  TIDE_OK(MPIX_Tide_comm_rail(MPI_COMM_WORLD, &rail));
  ASSERT_TRUE(rail != MPI_COMM_NULL);
  Comm owner(rail);
  std::vector<int> wanted;
  const auto local = static_cast<size_t>(world().my_local());
  for (const auto& ranks : world().members) {
    if (local < ranks.size()) wanted.push_back(ranks[local]);
  }
  EXPECT_EQ(wanted, world_ranks(rail));
}

TEST(Topology, GridCommunicators) {
  std::vector<int> order;  // node-major
  for (const auto& ranks : world().members) order.insert(order.end(), ranks.begin(), ranks.end());
  const int at =
      static_cast<int>(std::find(order.begin(), order.end(), world().rank) - order.begin());
  for (int shard_size = 0; shard_size <= world().size; ++shard_size) {
    MPI_Comm shard = MPI_COMM_NULL, replica = MPI_COMM_NULL;
    const int code = MPIX_Tide_comm_grid(MPI_COMM_WORLD, shard_size, &shard, &replica);
    const int width = shard_size ? shard_size : static_cast<int>(world().members[0].size());
    if (shard_size ? world().size % shard_size != 0 : !world().uniform()) {
      expect_failure_on_all(world(), code, {arg}, {"shard_size"});
      continue;
    }
    EXPECT_EQ(MPI_SUCCESS, code) << MPIX_Tide_error_message();
    if (code != MPI_SUCCESS) continue;
    Comm shard_owner(shard), replica_owner(replica);
    std::vector<int> wanted_shard, wanted_replica;
    for (int i = 0; i < width; ++i)
      wanted_shard.push_back(order[static_cast<size_t>(at / width * width + i)]);
    for (int i = at % width; i < world().size; i += width)
      wanted_replica.push_back(order[static_cast<size_t>(i)]);
    EXPECT_EQ(wanted_shard, world_ranks(shard)) << "shard_size " << shard_size;
    EXPECT_EQ(wanted_replica, world_ranks(replica)) << "shard_size " << shard_size;
    List list(team_of(shard), {param(9, 5)});
    check_reduce_scatter(list, {.pattern = rough});
  }
  MPI_Comm shard = MPI_COMM_NULL, replica = MPI_COMM_NULL;
  expect_failure_on_all(world(), MPIX_Tide_comm_grid(MPI_COMM_WORLD, -1, &shard, &replica), {arg});
  expect_failure_on_all(
      world(), MPIX_Tide_comm_grid(MPI_COMM_WORLD, world().size + 1, &shard, &replica), {arg});
  if (world().size > 2) {
    const int mine = world().rank == 1 ? world().size : 1;  // ranks disagree
    expect_failure_on_all(world(), MPIX_Tide_comm_grid(MPI_COMM_WORLD, mine, &shard, &replica),
                          {arg, mismatch});
  }
  expect_usable(world());
}

TEST(Topology, SplitsByShardAndReplicaSumLikeTheWhole) {
  // Accumulation over micro-batches inside the shard team, then a sum over the replicas.
  if (world().size % 2) GTEST_SKIP() << "for an even number of ranks";
  MPI_Comm shard = MPI_COMM_NULL, replica = MPI_COMM_NULL;
  TIDE_OK(MPIX_Tide_comm_grid(MPI_COMM_WORLD, world().size / 2, &shard, &replica));
  ASSERT_TRUE(shard != MPI_COMM_NULL && replica != MPI_COMM_NULL);
  Comm shard_owner(shard), replica_owner(replica);
  List list(team_of(shard), {param(4, 4)});
  Pieces grads(list.team(), Memory::tide, list.grad_bytes()),
      sums(list.team(), Memory::tide, list.out_bytes(MPIX_TIDE_FP32));
  double wanted = 0;
  for (int micro = 0; micro < 3; ++micro) {
    for (int r = 0; r < world().size; ++r) wanted += (micro + 1) * (r + 1);
    for (size_t i = 0; i < list.full_elems(0); ++i) {
      store(MPIX_TIDE_BF16, static_cast<uint16_t*>(grads[0]) + i, (micro + 1) * (world().rank + 1));
    }
    const int op = MPIX_TIDE_SUM | (micro ? MPIX_TIDE_ACCUMULATE : 0);
    TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.list()), sums.list(), MPIX_TIDE_FP32,
                                     op, 1.0, list.group()));
  }
  auto* out = static_cast<float*>(sums[0]);
  const int n = static_cast<int>(list.shard_elems(0));
  if (n) MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_FLOAT, MPI_SUM, replica);
  for (int j = 0; j < n; ++j) EXPECT_EQ(wanted, out[j]);
}

}  // namespace
}  // namespace tide_test
