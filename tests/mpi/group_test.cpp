// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What can be asked of a group: list, layout, sizes, offsets, storage, names.  Any ranks, any map.
#include <cstring>

#include "list.hpp"

namespace tide_test {
namespace {

TEST(Group, GetGivesBackWhatWasPutIn) {
  const std::vector<MPIX_Tide_param> params = {
      param(7, 3), param(1 << 20, 0, MPIX_TIDE_FP32, 0, 4),
      param(5, 2, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16)),
      param(9, 1, MPIX_TIDE_FP16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_NOGRAD), 2)};
  Comm comm(dup(MPI_COMM_WORLD));
  List list(team_of(comm), params);
  MPI_Comm told_comm = MPI_COMM_NULL;
  int n = 0;
  MPIX_Tide_param told[4];
  TIDE_OK(MPIX_Tide_group_get(list.group(), &told_comm, &n, told));
  EXPECT_TRUE(told_comm == comm) << "the creation handle itself";
  ASSERT_EQ(4, n);
  for (size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(params[p].rows, told[p].rows);
    EXPECT_EQ(params[p].row_elems, told[p].row_elems);
    EXPECT_EQ(params[p].block_rows, told[p].block_rows);
    EXPECT_EQ(params[p].dtype, told[p].dtype);
    EXPECT_EQ(params[p].types, told[p].types);
  }
  TIDE_OK(MPIX_Tide_group_get(list.group(), nullptr, nullptr, nullptr));
  comm.free();
  TIDE_OK(MPIX_Tide_group_get(list.group(), &told_comm, nullptr, nullptr));
  EXPECT_TRUE(told_comm == MPI_COMM_NULL) << "the user freed it";
}

TEST(Group, DescriptorsAndInfoAreCopied) {
  std::vector<MPIX_Tide_param> params = {param(7, 3), param(5, 2)};
  MPIX_Tide_group group;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tide_order", "rank");
  TIDE_OK(MPIX_Tide_group_create(MPI_COMM_WORLD, 2, params.data(), info, &group));
  MPI_Info_free(&info);
  std::memset(params.data(), 0xFF, params.size() * sizeof params[0]);
  MPIX_Tide_param told[2];
  TIDE_OK(MPIX_Tide_group_get(group, nullptr, nullptr, told));
  EXPECT_EQ(7, told[0].rows);
  EXPECT_EQ(2, told[1].row_elems);
  TIDE_OK(MPIX_Tide_group_free(&group));
  EXPECT_EQ(MPIX_TIDE_GROUP_NULL, group);
}

TEST(Group, BlockRowsMoveTheBoundaries) {
  // The List constructor compares group_shard with the definition for every rank.
  List list(world(), {param(10, 1, MPIX_TIDE_BF16, 0, 4), param(64, 2, MPIX_TIDE_BF16, 0, 16),
                      param(3, 5, MPIX_TIDE_BF16, 0, 100), param(17, 1, MPIX_TIDE_BF16, 0, 1),
                      param(0, 4, MPIX_TIDE_BF16, 0, 8)});
  for (size_t p = 0; p < list.count(); ++p) {
    const MPI_Count block = std::max<MPI_Count>(1, list.params()[p].block_rows);
    for (int r = 0; r < world().size; ++r) {
      MPI_Count first, rows;
      TIDE_OK(MPIX_Tide_group_shard(list.group(), static_cast<int>(p), r, &first, &rows));
      EXPECT_TRUE(first % block == 0 || first == list.params()[p].rows) << p << " " << r;
    }
  }
  check_allgather(list);
  check_reduce_scatter(list);
}

TEST(Group, ShardLeavesOutRangeArgumentsAlone) {
  List list(world(), {param(7, 3)});
  MPI_Count first = -7, rows = -7;
  for (const auto& [p, r] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, world().size}}) {
    expect_failure(MPIX_Tide_group_shard(list.group(), p, r, &first, &rows), {arg});
  }
  EXPECT_EQ(-7, first);
  EXPECT_EQ(-7, rows);
  TIDE_OK(MPIX_Tide_group_shard(list.group(), 0, 0, nullptr, &rows));
  TIDE_OK(MPIX_Tide_group_shard(list.group(), 0, 0, &first, nullptr));
}

TEST(Group, SizesAreKnownBeforeAnyStorage) {
  List list(world(), {param(7, 3), param(513, 65),
                      param(5, 2, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16))});
  MPIX_Tide_sizes sizes;
  std::memset(&sizes, 0xFF, sizeof sizes);
  TIDE_OK(MPIX_Tide_group_sizes(list.group(), &sizes));
  MPI_Count full = 0, shard = 0;
  for (size_t bytes : list.full_bytes()) full += static_cast<MPI_Count>(bytes);
  for (size_t bytes : list.shard_bytes()) shard += static_cast<MPI_Count>(bytes);
  EXPECT_EQ(full, sizes.full_bytes);
  EXPECT_EQ(shard, sizes.shard_bytes);
  EXPECT_GE(sizes.allgather_workspace_bytes, 0);
  EXPECT_GE(sizes.reduce_scatter_workspace_min_bytes, 0);
  EXPECT_GE(sizes.reduce_scatter_workspace_bytes, sizes.reduce_scatter_workspace_min_bytes);
  // Queries take 64-bit sizes as they are: nothing of this list is ever allocated but workspace.
  List huge(world(), {param(MPI_Count{1} << 33, 0), param(MPI_Count{1} << 32, 0, MPIX_TIDE_FP64)});
  TIDE_OK(MPIX_Tide_group_sizes(huge.group(), &sizes));
  EXPECT_EQ(0, sizes.full_bytes);
  MPIX_Tide_param told[2];
  TIDE_OK(MPIX_Tide_group_get(huge.group(), nullptr, nullptr, told));
  EXPECT_EQ(MPI_Count{1} << 33, told[0].rows);
}

TEST(Group, OffsetsCarveWithoutOverlap) {
  List list(
      world(),
      {param(7, 3), param(5, 2, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16)),
       param(0, 4), param(9, 1, MPIX_TIDE_FP64),
       param(1, 1, MPIX_TIDE_UINT8, types_of(MPIX_TIDE_UINT8, MPIX_TIDE_NOGRAD)), param(6, 2)});
  for (int what : {MPIX_TIDE_FULL, MPIX_TIDE_SHARD, MPIX_TIDE_GRAD}) {
    for (int dtype : {0, static_cast<int>(MPIX_TIDE_FP32)}) {
      for (MPI_Count align : {1, 16, 256}) {
        MPI_Count offset[6], total = -1, end = 0;
        TIDE_OK(MPIX_Tide_group_offsets(list.group(), what, dtype, align, offset, &total));
        for (size_t p = 0; p < list.count(); ++p) {
          const auto& q = list.params()[p];
          if (what == MPIX_TIDE_GRAD && list.frozen(p)) continue;
          const int own = what == MPIX_TIDE_FULL    ? q.dtype
                          : what == MPIX_TIDE_SHARD ? shard_dtype(q)
                                                    : grad_dtype(q);
          const size_t elems = what == MPIX_TIDE_SHARD ? list.shard_elems(p) : list.full_elems(p);
          EXPECT_EQ(0, offset[p] % align);
          EXPECT_GE(offset[p], end) << "parameter " << p << " begins inside the one before";
          EXPECT_LT(offset[p] - end, std::max<MPI_Count>(align, 8))
              << "padding is no more than the alignment asks";
          end = offset[p] + static_cast<MPI_Count>(elems * size_of(dtype ? dtype : own));
        }
        EXPECT_GE(total, end);
        EXPECT_LT(total - end, std::max<MPI_Count>(align, 8));
      }
    }
  }
  MPI_Count offset[6], total;
  TIDE_OK(MPIX_Tide_group_offsets(list.group(), MPIX_TIDE_FULL, 0, 16, nullptr, &total));
  TIDE_OK(MPIX_Tide_group_offsets(list.group(), MPIX_TIDE_FULL, 0, 16, offset, nullptr));
  expect_failure(MPIX_Tide_group_offsets(list.group(), 99, 0, 16, offset, &total), {arg});
  expect_failure(MPIX_Tide_group_offsets(list.group(), MPIX_TIDE_FULL, 99, 16, offset, &total),
                 {arg});
  expect_failure(MPIX_Tide_group_offsets(list.group(), MPIX_TIDE_FULL, 0, -1, offset, &total),
                 {arg});
}

TEST(Group, AllocCarvesStorageThatWorks) {
  List list(world(), usual_list(MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16)));
  std::vector<void*> full(list.count()), shard(list.count()), grad(list.count());
  void *full_base = nullptr, *shard_base = nullptr, *grad_base = nullptr;
  TIDE_OK(MPIX_Tide_group_alloc(list.group(), MPIX_TIDE_FULL, 0, MPI_INFO_NULL, full.data(),
                                &full_base));
  TIDE_OK(MPIX_Tide_group_alloc(list.group(), MPIX_TIDE_SHARD, MPIX_TIDE_FP32, MPI_INFO_NULL,
                                shard.data(), &shard_base));
  TIDE_OK(MPIX_Tide_group_alloc(list.group(), MPIX_TIDE_GRAD, 0, MPI_INFO_NULL, grad.data(),
                                &grad_base));
  ASSERT_NE(nullptr, full_base);
  write_shards(list, shard.data(), 3);
  TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shard.data()), full.data(), list.group()));
  expect_gathered(list, full.data(), 3, "group_alloc");
  const ReduceOptions options{.pattern = rough};
  write_grads(list, grad.data(), options);
  TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grad.data()), shard.data(), 0, MPIX_TIDE_SUM,
                                   1.0, list.group()));
  expect_reduced(list, shard.data(), options, "group_alloc");
  for (void* base : {full_base, grad_base}) TIDE_OK(MPIX_Tide_free(MPI_COMM_WORLD, base));
  if (shard_base) TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, shard_base));
}

TEST(Group, NamesShowInMessages) {
  List list(world(), {param(7, 3), param(6, 2)});
  const char* names[] = {"wq.weight", "bias"};
  TIDE_OK(MPIX_Tide_group_set_names(list.group(), "layer7.", names));
  Pieces full(world(), Memory::tide, list.full_bytes()),
      shards(world(), Memory::tide, list.shard_bytes());
  if (list.rows(0, 0) == 0) return;
  std::vector<void*> none = {nullptr, shards[1]};
  const bool mine = list.shard_elems(0) > 0;
  const int code = MPIX_Tide_allgather(MPIX_TIDE_INPUTS(none.data()), full.list(), list.group());
  if (mine)
    expect_failure(code, {buffer}, {"layer7.wq.weight"});
  else
    EXPECT_NE(MPI_SUCCESS, code);
  TIDE_OK(MPIX_Tide_group_set_names(list.group(), "", names));
  check_allgather(list);
}

TEST(Group, SeveralAliveAndInterleaved) {
  List a(world(), {param(7, 3)}), b(world(), {param(64, 33, MPIX_TIDE_FP32)}),
      c(world(), usual_list(MPIX_TIDE_FP16));
  Comm comm(dup(MPI_COMM_WORLD));
  List d(team_of(comm), {param(9, 5)});
  for (uint64_t round = 1; round <= 4; ++round) {
    for (const List* list : {&a, &d, &c, &b}) check_allgather(*list, {.salt = round});
    for (const List* list : {&b, &a, &d, &c}) check_reduce_scatter(*list, {.pattern = rough});
  }
}

TEST(Group, ConfigAndVersion) {
  int major = -1, minor = -1, patch = -1;
  TIDE_OK(MPIX_Tide_get_version(&major, &minor, &patch));
  EXPECT_TRUE(MPIX_TIDE_VERSION_GE(0, 1, 0));
  EXPECT_GE(major * 10000 + minor * 100 + patch, 100);
  size_t needed = 0;
  TIDE_OK(MPIX_Tide_get_config(nullptr, 0, &needed));
  ASSERT_GT(needed, 1u);
  std::string text(needed + 8, '#');
  TIDE_OK(MPIX_Tide_get_config(text.data(), text.size(), &needed));
  const size_t length = std::strlen(text.c_str());
  EXPECT_TRUE(needed == length || needed == length + 1) << needed << " " << length;
  char tiny[4] = {'#', '#', '#', '#'};
  TIDE_OK(MPIX_Tide_get_config(tiny, 3, &needed));
  EXPECT_EQ('#', tiny[3]) << "written past the size that was given";
}

}  // namespace
}  // namespace tide_test
