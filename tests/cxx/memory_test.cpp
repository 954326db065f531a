// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Groups and memory: moves, lifetimes, what they tell.
#include <string>
#include <tide/tide.hpp>

#include "team.hpp"

namespace {

using namespace tide_test;
using tide::What;

TEST(CxxMemory, AnAllocationIsZeroedAndMoves) {
  tide::Memory a(MPI_COMM_WORLD, 4096);
  ASSERT_EQ(1024u, a.as<float>().size());
  for (const float x : a.as<float>()) ASSERT_EQ(0.0f, x);
  a.as<float>()[7] = 7;
  void* const at = a.data();
  tide::Memory b = std::move(a);
  EXPECT_EQ(nullptr, a.data());  // NOLINT
  EXPECT_EQ(at, b.data());
  tide::Memory& same = b;
  b = std::move(same);
  ASSERT_EQ(at, b.data());
  EXPECT_EQ(7, b.as<float>()[7]);
  b = tide::Memory(MPI_COMM_WORLD, 0);
  EXPECT_EQ(nullptr, b.data());
  EXPECT_TRUE(b.as<float>().empty());
}

TEST(CxxMemory, AReleasedAllocationIsTheCallers) {
  tide::Memory a(MPI_COMM_WORLD, 64);
  void* const at = a.release();
  EXPECT_EQ(nullptr, a.data());
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, at));
}

TEST(CxxMemory, MemoryIsFreedByItsEnd) {
  void* at = nullptr;
  {
    const tide::Memory memory(MPI_COMM_WORLD, 64);
    at = memory.data();
  }
  EXPECT_NE(MPI_SUCCESS, MPIX_Tide_free(MPI_COMM_NULL, at)) << "it was not freed";
}

TEST(CxxMemory, PiecesOfAGroup) {
  const tide::Group group(MPI_COMM_WORLD,
                          {tide::param<tide::bf16, float>(5, 3), tide::param<double>(2),
                           tide::param<float, float, tide::Frozen>(4)});
  const auto full = group.alloc(What::full), shard = group.alloc(What::shard),
             grad = group.alloc(What::grad),
             wide = group.alloc(What::grad, MPI_INFO_NULL, tide::Dtype::fp64);
  EXPECT_EQ(15u, full.piece<tide::bf16>(0).size());
  EXPECT_EQ(static_cast<std::size_t>(group.shard(0).count) * 3, shard.piece<float>(0).size());
  EXPECT_EQ(2u, grad.piece<double>(1).size());
  EXPECT_EQ(nullptr, grad.piece<float>(2).data());  // frozen
  EXPECT_EQ(15u, wide.piece<double>(0).size());
  EXPECT_EQ(3u, full.row_elems(0));
  EXPECT_GE(full.memory().size_bytes(), 15 * 2 + 2 * 8 + 4 * 4u);
  EXPECT_THROW((void)full.piece<float>(0), tide::Error);   // bf16
  EXPECT_THROW((void)full.piece<double>(3), tide::Error);  // of 3
}

TEST(CxxMemory, OutlivesItsGroup) {
  tide::GroupMemory full, shard;
  {
    const tide::Group first(MPI_COMM_WORLD, {tide::param<float>(4, 2)});
    full = first.alloc(What::full);
    shard = first.alloc(What::shard);
    for (float& x : shard.piece<float>(0)) x = static_cast<float>(world().rank);
  }
  const tide::Group second(MPI_COMM_WORLD, {tide::param<float>(4, 2)});
  tide::GroupMemory& same = full;
  full = std::move(same);
  second.allgather(shard, full);
  for (int r = 0; r < world().size; ++r) {
    const tide::Rows rows = second.shard(0, r);
    for (MPI_Count i = rows.first * 2; i < (rows.first + rows.count) * 2; ++i)
      ASSERT_EQ(static_cast<float>(r), full.piece<float>(0)[static_cast<std::size_t>(i)]);
  }
}

TEST(CxxMemory, SharedByANode) {
  const tide::Group group(MPI_COMM_WORLD, {tide::param<float>(6)});
  const auto full = group.alloc(What::full, tide::Info{{"tide_share", "node"}});
  const std::vector<float> mine(group.extent(0, What::shard).elems, 1.0f);
  group.allgather({mine}, full);
  for (const float x : full.piece<float>(0)) EXPECT_EQ(1.0f, x);
}

TEST(CxxGroup, MovesAndSelfMoves) {
  tide::Group a(MPI_COMM_WORLD, {tide::param<float>(4)});
  const MPIX_Tide_group handle = a.handle();
  tide::Group b(std::move(a));
  EXPECT_FALSE(a);  // NOLINT
  EXPECT_EQ(handle, b.handle());
  tide::Group& same = b;
  b = std::move(same);
  ASSERT_EQ(handle, b.handle());
  ASSERT_EQ(1u, b.params().size());
  b = tide::Group(MPI_COMM_WORLD, {});
  EXPECT_TRUE(b.params().empty());
  EXPECT_NO_THROW(b.allgather(tide::Inputs{}, tide::Outputs{}));
  EXPECT_THROW(tide::check(MPIX_Tide_group_get(handle, nullptr, nullptr, nullptr)), tide::Error)
      << "the moved-to group did not free what it held";
}

TEST(CxxGroup, TellsWhatItKnows) {
  tide::Group group(MPI_COMM_WORLD, {tide::param<float>(10, 2)});
  EXPECT_EQ(MPI_COMM_WORLD, group.comm());
  MPI_Count rows = 0;
  for (int r = 0; r < world().size; ++r) rows += group.shard(0, r).count;
  EXPECT_EQ(10, rows);
  EXPECT_EQ(80, group.sizes().full_bytes);
  EXPECT_EQ('{', group.report().front());
  EXPECT_EQ(std::string::npos, group.report().find('\0'));
  EXPECT_NE(std::string::npos, tide::config().find(MPIX_TIDE_VERSION));
  EXPECT_THROW(group.set_names({"a", "b"}), tide::Error);
  group.set_names({"w"}, "layer.");
  EXPECT_THROW(group.allgather({nullptr}, {nullptr}), tide::Error);
  EXPECT_NE(std::string::npos, std::string(MPIX_Tide_error_message()).find("layer.w"));
}

TEST(CxxGroup, CommunicatorsAndTopology) {
  const MPIX_Tide_topology t = tide::topology(MPI_COMM_WORLD);
  int size = 0;
  Comm node(tide::node_comm(MPI_COMM_WORLD)), rail(tide::rail_comm(MPI_COMM_WORLD));
  MPI_Comm_size(node, &size);
  EXPECT_EQ(t.local_size, size);
  const tide::Grid grid = tide::grid_comms(MPI_COMM_WORLD, 1);
  Comm shard(grid.shard), replica(grid.replica);
  MPI_Comm_size(replica, &size);
  EXPECT_EQ(world().size, size);
}

// Objects with static storage end after MPI_Finalize, which has freed what they held.
TEST(CxxGroup, OutlivesMpi) {
  static tide::Group group(MPI_COMM_WORLD, {tide::param<float>(4)});
  static tide::Info info{{"tide_share", "none"}};
  static tide::GroupMemory memory = group.alloc(What::full, info);
  static tide::Request request = group.allgather_init(tide::in_place, memory);
  request.start();
  request.wait();
}

}  // namespace
