// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// All-gather: every type, conversion by the owner, in place, memory kinds, layouts.  Runs on any
// number of ranks and any map.
#include <ctime>

#include "list.hpp"

namespace tide_test {
namespace {

TEST(Allgather, MovesBitsOfEveryType) {
  for (int dtype :
       {MPIX_TIDE_BF16, MPIX_TIDE_FP16, MPIX_TIDE_FP32, MPIX_TIDE_FP64, MPIX_TIDE_UINT8}) {
    const int types = dtype == MPIX_TIDE_UINT8 ? types_of(dtype, MPIX_TIDE_NOGRAD) : 0;
    List list(world(), usual_list(dtype, types));
    check_allgather(list);
    check_allgather(list, {.salt = 5});
  }
}

TEST(Allgather, OwnerRoundsOnceWhereTypesDiffer) {
  const int pairs[][2] = {{MPIX_TIDE_FP32, MPIX_TIDE_BF16},
                          {MPIX_TIDE_FP32, MPIX_TIDE_FP16},
                          {MPIX_TIDE_FP64, MPIX_TIDE_BF16},
                          {MPIX_TIDE_FP64, MPIX_TIDE_FP16},
                          {MPIX_TIDE_FP64, MPIX_TIDE_FP32}};
  for (const auto& [shard, full] : pairs) {
    List list(world(), usual_list(full, types_of(shard, full)));
    check_allgather(list, {.salt = 3});
    check_allgather(list, {.shards = Memory::foreign, .params = Memory::foreign, .salt = 4});
  }
}

TEST(Allgather, MixedTypesInOneList) {
  List list(world(), {param(7, 3, MPIX_TIDE_UINT8, types_of(MPIX_TIDE_UINT8, MPIX_TIDE_NOGRAD)),
                      param(5, 3, MPIX_TIDE_FP64),
                      param(9, 5, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16)),
                      param(1, 1, MPIX_TIDE_UINT8), param(11, 7, MPIX_TIDE_FP16),
                      param(64, 33, MPIX_TIDE_FP32, types_of(MPIX_TIDE_FP64, MPIX_TIDE_FP32))});
  for (Memory memory : {Memory::tide, Memory::by_param})
    check_allgather(list, {.shards = memory, .params = memory, .salt = 9});
}

TEST(Allgather, InPlace) {
  for (int dtype : {MPIX_TIDE_BF16, MPIX_TIDE_FP64}) {
    List list(world(), usual_list(dtype));
    for (InPlace in_place : {InPlace::sentinel, InPlace::own_rows, InPlace::mixed}) {
      for (Memory memory : {Memory::tide, Memory::foreign, Memory::by_rank}) {
        check_allgather(list, {.params = memory, .in_place = in_place, .salt = 11});
      }
    }
  }
}

TEST(Allgather, AnyMixOfMemory) {
  List list(world(), usual_list(MPIX_TIDE_BF16));
  for (Memory shards : {Memory::tide, Memory::foreign, Memory::by_rank, Memory::by_param}) {
    for (Memory params : {Memory::tide, Memory::foreign, Memory::by_rank, Memory::by_param}) {
      check_allgather(list, {.shards = shards, .params = params, .salt = 13});
    }
  }
}

TEST(Allgather, AnyElementAlignment) {
  for (int dtype : {MPIX_TIDE_BF16, MPIX_TIDE_FP32, MPIX_TIDE_FP64}) {
    List list(world(), usual_list(dtype));
    for (size_t elems : {1u, 3u}) {
      check_allgather(list, {.shift_bytes = elems * size_of(dtype), .salt = 17});
      check_allgather(list, {.shards = Memory::foreign,
                             .params = Memory::foreign,
                             .shift_bytes = elems * size_of(dtype),
                             .salt = 19});
    }
  }
}

// A table in which one rank owns everything, one nothing, and the rest something odd.
std::vector<MPI_Count> ragged_table(const std::vector<MPIX_Tide_param>& params, int size,
                                    uint64_t seed) {
  std::vector<MPI_Count> table;
  for (size_t p = 0; p < params.size(); ++p) {
    const MPI_Count rows = params[p].rows;
    MPI_Count at = 0;
    for (int r = 0; r < size; ++r) {
      table.push_back(at);
      const MPI_Count left = rows - at;
      if (p % 3 == 0)
        at = r == static_cast<int>(p) % size ? rows : at;
      else
        at += static_cast<MPI_Count>(mix(seed, p, static_cast<uint64_t>(r)) %
                                     static_cast<uint64_t>(left + 1));
      if (r == size - 1) at = rows;
    }
    table.push_back(rows);
  }
  return table;
}

TEST(Allgather, ExplicitLayouts) {
  std::vector<MPIX_Tide_param> params = usual_list(MPIX_TIDE_BF16);
  for (auto& p : params) p.block_rows = 0;
  for (uint64_t seed : {1u, 2u, 3u}) {
    List list(world(), params, MPI_INFO_NULL, ragged_table(params, world().size, seed));
    check_allgather(list, {.salt = seed});
    check_allgather(list, {.params = Memory::foreign, .in_place = InPlace::sentinel, .salt = seed});
    check_reduce_scatter(list, {.out_dtype = MPIX_TIDE_FP32});
  }
}

TEST(Allgather, ManyPiecesOfAFewMebibytes) {
  List list(world(), {param(1031, 517), param(3, 1), param(2048, 256), param(129, 4099)});
  check_allgather(list, {.salt = 23});
  check_allgather(list, {.shards = Memory::foreign, .params = Memory::foreign, .salt = 29});
  check_allgather(list, {.params = Memory::tide, .in_place = InPlace::sentinel, .salt = 31});
}

TEST(Allgather, BuffersMayChangeFromCallToCall) {
  List list(world(), {param(7, 3), param(5, 33), param(2, 6), param(64, 5)});
  for (uint64_t call = 1; call <= 30; ++call) {
    const auto kind = [&](uint64_t which) { return static_cast<Memory>(mix(call, which) % 5); };
    check_allgather(list, {.shards = kind(1),
                           .params = kind(2),
                           .in_place = static_cast<InPlace>(mix(call, 3) % 4),
                           .salt = call});
  }
}

TEST(Allgather, SameBuffersManyCalls) {
  List list(world(), usual_list(MPIX_TIDE_BF16));
  Pieces shards(world(), Memory::tide, list.shard_bytes()),
      params(world(), Memory::tide, list.full_bytes());
  for (uint64_t call = 1; call <= 20; ++call) {
    write_shards(list, shards.list(),
                 call);  // at once after the call before: no peer may still read them
    TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), params.list(), list.group()));
    expect_gathered(list, params.list(), call, "repeated call");
  }
}

TEST(Allgather, NothingIsTouchedBeforeItsRankEnters) {
  List list(world(), {param(64, 33), param(3, 5)});
  for (Memory memory : {Memory::tide, Memory::foreign}) {
    for (int late = 0; late < world().size; ++late) {
      Pieces shards(world(), memory, list.shard_bytes()),
          params(world(), memory, list.full_bytes());
      params.fill(0x5A);
      write_shards(list, shards.list(), 2);
      sync(world());
      if (world().rank == late) {
        struct timespec t = {0, 30 * 1000 * 1000};
        nanosleep(&t, nullptr);
        params.expect_filled(0x5A, "before the late rank entered");
      }
      TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), params.list(), list.group()));
      expect_gathered(list, params.list(), 2, "late rank");
    }
  }
}

TEST(Allgather, EmptyLists) {
  List none(world(), {});
  TIDE_OK(MPIX_Tide_allgather(nullptr, nullptr, none.group()));
  TIDE_OK(MPIX_Tide_reduce_scatter(nullptr, nullptr, 0, MPIX_TIDE_SUM, 1.0, none.group()));
  List empties(world(), {param(0, 8), param(4, 0), param(0, 0)});
  void* nothing[3] = {nullptr, nullptr, nullptr};
  TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(nothing), nothing, empties.group()));
  TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(nothing), nothing, MPIX_TIDE_FP32,
                                   MPIX_TIDE_AVG, 1.0, empties.group()));
}

}  // namespace
}  // namespace tide_test
