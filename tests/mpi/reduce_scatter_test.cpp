// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter: arithmetic bit by bit, types, order of additions, absent gradients, memory kinds.
// Any ranks, any map.
#include <cmath>
#include <ctime>

#include "list.hpp"

namespace tide_test {
namespace {

struct Types {
  int grad, shard, out;
};
const Types allowed[] = {{MPIX_TIDE_BF16, MPIX_TIDE_BF16, 0},
                         {MPIX_TIDE_BF16, MPIX_TIDE_FP32, 0},
                         {MPIX_TIDE_BF16, MPIX_TIDE_FP32, MPIX_TIDE_BF16},
                         {MPIX_TIDE_BF16, MPIX_TIDE_BF16, MPIX_TIDE_FP32},
                         {MPIX_TIDE_FP16, MPIX_TIDE_FP16, 0},
                         {MPIX_TIDE_FP16, MPIX_TIDE_FP32, 0},
                         {MPIX_TIDE_FP16, MPIX_TIDE_FP16, MPIX_TIDE_FP32},
                         {MPIX_TIDE_FP32, MPIX_TIDE_FP32, 0},
                         {MPIX_TIDE_FP32, MPIX_TIDE_FP64, 0},
                         {MPIX_TIDE_FP32, MPIX_TIDE_FP32, MPIX_TIDE_FP64},
                         {MPIX_TIDE_FP64, MPIX_TIDE_FP64, 0},
                         {MPIX_TIDE_FP64, MPIX_TIDE_FP64, MPIX_TIDE_FP64}};

std::string name_of(const Types& t) {
  return name_of_dtype(t.grad) + " gradients, " + name_of_dtype(t.shard) + " shards, out_dtype " +
         name_of_dtype(t.out);
}

TEST(ReduceScatter, EveryPairOfTypesSumsExactly) {
  for (const Types& t : allowed) {
    SCOPED_TRACE(name_of(t));
    List list(
        world(),
        usual_list(t.shard == MPIX_TIDE_FP64 && t.grad == MPIX_TIDE_FP32 ? MPIX_TIDE_FP32 : t.grad,
                   types_of(t.shard, t.grad)));
    check_reduce_scatter(list, {.out_dtype = t.out});
    check_reduce_scatter(list, {.out_dtype = t.out, .pattern = rough});
  }
}

TEST(ReduceScatter, OperationScaleAndAccumulateInTheWrittenOrder) {
  for (const Types& t : allowed) {
    SCOPED_TRACE(name_of(t));
    List list(world(), {param(23, 5, t.grad, types_of(t.shard, t.grad)),
                        param(2, 6, t.grad, types_of(t.shard, t.grad)),
                        param(64, 33, t.grad, types_of(t.shard, t.grad))});
    for (int op : {MPIX_TIDE_SUM, MPIX_TIDE_AVG}) {
      for (double scale : {1.0, 1.0 / 3.0, -0.1, 1024.0}) {
        for (bool accumulate : {false, true}) {
          check_reduce_scatter(list, {.out_dtype = t.out,
                                      .op = op,
                                      .scale = scale,
                                      .accumulate = accumulate,
                                      .pattern = rough});
        }
      }
    }
  }
}

// Some elements more than fill the tiles of a device's kernel (64 Ki): each is added once.
TEST(ReduceScatter, TailsBehindWholeTiles) {
  const int ranks = world().size;
  List list(world(),
            {param(ranks, 32769), param(ranks, 32775), param(ranks, 65543), param(ranks, 131073)});
  check_reduce_scatter(list, {.out_dtype = MPIX_TIDE_FP32, .accumulate = true});
}

// Rows of one slice and of many, as a device's kernel takes them (16 KiB), with what stands before
// and behind them; some absent.
TEST(ReduceScatter, RowsOfManySlices) {
  const int ranks = world().size;
  std::vector<MPIX_Tide_param> params;
  int elems = 8192;
  for (const Types& t : {allowed[1], allowed[4], allowed[7], allowed[8], allowed[10]}) {
    params.push_back(param(ranks, elems, t.grad, types_of(t.shard, t.grad)));
    elems += 8201;  // every residue of a slice and of a vector, sooner or later
  }
  List list(world(), params);
  const auto some = [](int r, int p) { return (r + p) % 3 == 0; };
  check_reduce_scatter(list, {.pattern = rough});
  check_reduce_scatter(list,
                       {.op = MPIX_TIDE_AVG, .accumulate = true, .absent = some, .pattern = rough});
  // Of 16-bit types and two ranks a node, rows cross nodes as they are and are added node by node.
  List narrow(world(),
              {param(ranks, 16399, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16)),
               param(ranks, 24593, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16))});
  check_reduce_scatter(narrow, {.absent = some, .pattern = rough});
  check_reduce_scatter(narrow, {.accumulate = true, .pattern = rough});
}

TEST(ReduceScatter, RankOrderOnRequest) {
  List list(world(), usual_list(MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16)),
            Info{{"tide_order", "rank"}});
  check_reduce_scatter(list, {.pattern = rough});
  check_reduce_scatter(list,
                       {.op = MPIX_TIDE_AVG, .scale = 0.7, .accumulate = true, .pattern = rough});
  List wide(world(), usual_list(MPIX_TIDE_FP32), Info{{"tide_order", "rank"}});
  check_reduce_scatter(wide, {.grads = Memory::by_rank, .pattern = rough});
  List node(world(), usual_list(MPIX_TIDE_FP32), Info{{"tide_order", "node"}});
  check_reduce_scatter(node, {.pattern = rough});
}

TEST(ReduceScatter, AbsentGradientsCountAsMinusZero) {
  List list(world(), usual_list(MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16)));
  const auto some = [](int r, int p) { return (r + p) % 3 == 0; };
  check_reduce_scatter(list, {.absent = some, .pattern = rough});
  check_reduce_scatter(
      list, {.grads = Memory::foreign, .op = MPIX_TIDE_AVG, .absent = some, .pattern = rough});
  check_reduce_scatter(list, {.accumulate = true, .absent = some});
  check_reduce_scatter(list, {.absent = [](int, int) { return true; }});  // -0 everywhere
  check_reduce_scatter(list, {.absent = [](int r, int) { return r == 0; }});
  check_reduce_scatter(list, {.absent = [](int, int) { return false; }});
}

TEST(ReduceScatter, FrozenParametersAreLeftOut) {
  List list(world(),
            {param(7, 3), param(5, 3, MPIX_TIDE_BF16, types_of(MPIX_TIDE_BF16, MPIX_TIDE_NOGRAD)),
             param(9, 2), param(6, 4, MPIX_TIDE_UINT8, types_of(MPIX_TIDE_UINT8, MPIX_TIDE_NOGRAD)),
             param(3, 5, MPIX_TIDE_FP16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_NOGRAD))});
  check_reduce_scatter(list, {.out_dtype = MPIX_TIDE_FP32, .pattern = rough});
  check_reduce_scatter(list, {.accumulate = true});
  check_allgather(list, {.salt = 3});
  List frozen(world(), {param(5, 3, MPIX_TIDE_BF16, types_of(MPIX_TIDE_BF16, MPIX_TIDE_NOGRAD))});
  check_reduce_scatter(frozen);
}

TEST(ReduceScatter, MixedTypesInOneList) {
  List list(world(),
            {param(9, 5, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16)),
             param(7, 3, MPIX_TIDE_FP32), param(5, 3, MPIX_TIDE_FP64), param(11, 7, MPIX_TIDE_FP16),
             param(3, 4, MPIX_TIDE_FP32, types_of(MPIX_TIDE_FP64, MPIX_TIDE_FP32)),
             param(64, 33, MPIX_TIDE_BF16)});
  check_reduce_scatter(list, {.pattern = rough});
  check_reduce_scatter(list, {.grads = Memory::by_param,
                              .shards = Memory::by_rank,
                              .op = MPIX_TIDE_AVG,
                              .accumulate = true,
                              .pattern = rough});
}

TEST(ReduceScatter, AnyMixOfMemory) {
  List list(world(), usual_list(MPIX_TIDE_BF16));
  for (Memory grads : {Memory::tide, Memory::foreign, Memory::by_rank, Memory::by_param}) {
    for (Memory shards : {Memory::tide, Memory::foreign, Memory::by_rank, Memory::by_param}) {
      check_reduce_scatter(
          list, {.grads = grads, .shards = shards, .out_dtype = MPIX_TIDE_FP32, .pattern = rough});
    }
  }
}

TEST(ReduceScatter, AnyElementAlignment) {
  for (int dtype : {MPIX_TIDE_BF16, MPIX_TIDE_FP32, MPIX_TIDE_FP64}) {
    List list(world(), usual_list(dtype));
    for (size_t elems : {1u, 3u}) {
      const size_t shift = elems * size_of(dtype);
      check_reduce_scatter(list, {.pattern = rough, .shift_bytes = shift});
      check_reduce_scatter(list, {.grads = Memory::foreign,
                                  .shards = Memory::foreign,
                                  .pattern = rough,
                                  .shift_bytes = shift});
    }
  }
}

TEST(ReduceScatter, BuffersMayChangeFromCallToCall) {
  List list(world(), {param(7, 3), param(5, 33), param(2, 6), param(64, 5)});
  for (uint64_t call = 1; call <= 30; ++call) {
    const auto kind = [&](uint64_t which) { return static_cast<Memory>(mix(call, which) % 5); };
    check_reduce_scatter(list, {.grads = kind(1),
                                .shards = kind(2),
                                .out_dtype = call % 2 ? MPIX_TIDE_FP32 : 0,
                                .pattern = rough,
                                .seed = call});
  }
}

TEST(ReduceScatter, SeveralMebibytes) {
  List list(world(), {param(1031, 517), param(3, 1), param(129, 4099)});
  check_reduce_scatter(list, {.out_dtype = MPIX_TIDE_FP32, .pattern = rough});
  check_reduce_scatter(list, {.grads = Memory::foreign,
                              .shards = Memory::foreign,
                              .out_dtype = MPIX_TIDE_FP32,
                              .op = MPIX_TIDE_AVG,
                              .pattern = rough});
}

// Position in the list, company and alignment must not change the bits.
TEST(ReduceScatter, BitsDoNotDependOnCompany) {
  const auto same = [](int r, int, size_t i) { return rough(r, 0, i); };
  List alone(world(), {param(64, 33)});
  List third(world(), {param(9, 2), param(513, 7), param(64, 33), param(1, 1)});
  const Shards a = check_reduce_scatter(alone, {.out_dtype = MPIX_TIDE_FP32, .pattern = same});
  const Shards b = check_reduce_scatter(
      third,
      {.grads = Memory::foreign, .out_dtype = MPIX_TIDE_FP32, .pattern = same, .shift_bytes = 2});
  EXPECT_EQ(a[0], b[2]);
}

TEST(ReduceScatter, NothingIsTouchedBeforeItsRankEnters) {
  List list(world(), {param(64, 33), param(3, 5)});
  for (int late = 0; late < world().size; ++late) {
    Pieces grads(world(), Memory::tide, list.grad_bytes()),
        shards(world(), Memory::tide, list.out_bytes(MPIX_TIDE_FP32));
    shards.fill(0x5A);
    const ReduceOptions options{.out_dtype = MPIX_TIDE_FP32, .pattern = rough};
    sync(world());
    if (world().rank == late) {
      struct timespec t = {0, 30 * 1000 * 1000};
      nanosleep(&t, nullptr);
      shards.expect_filled(0x5A, "before the late rank entered");
    }
    write_grads(list, grads.list(),
                options);  // only now: a peer that read them earlier has wrong sums
    TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.list()), shards.list(), MPIX_TIDE_FP32,
                                     MPIX_TIDE_SUM, 1.0, list.group()));
    expect_reduced(list, shards.list(), options, "late rank");
  }
}

TEST(ReduceScatter, SpecialValuesStayWhereTheyAre) {
  const auto special = [](int r, int, size_t i) -> double {
    static const double v[] = {0.0,      -0.0,      INFINITY, -INFINITY, NAN,
                               0x1p-133, -0x1p-149, 3e38,     -3e38};
    return i % 4 == 1 ? v[mix(static_cast<uint64_t>(r), i) % 9] : small_integers(r, 0, i);
  };
  for (int dtype : {MPIX_TIDE_BF16, MPIX_TIDE_FP16, MPIX_TIDE_FP32, MPIX_TIDE_FP64}) {
    List list(world(), {param(64, 33, dtype), param(5, 3, dtype)});
    check_reduce_scatter(list, {.pattern = special});
    check_reduce_scatter(
        list,
        {.grads = Memory::foreign, .op = MPIX_TIDE_AVG, .accumulate = true, .pattern = special});
  }
}

}  // namespace
}  // namespace tide_test
