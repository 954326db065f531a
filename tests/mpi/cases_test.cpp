// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Failures that other libraries had in public, with the numbers that come out when all is well.
// Each case asks for its own rank count (and is skipped on another); the number in a name is the
// case's own.
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "list.hpp"

namespace tide_test {
namespace {

#define ONLY_ON(n) \
  if (world().size != (n)) GTEST_SKIP() << "for " << (n) << " ranks"

const ReduceOptions to_fp32{.out_dtype = MPIX_TIDE_FP32};

Shards check_both(const List& list) {
  check_allgather(list);
  check_allgather(list, {.shards = Memory::foreign, .params = Memory::foreign});
  check_reduce_scatter(
      list, {.grads = Memory::foreign, .shards = Memory::foreign, .out_dtype = MPIX_TIDE_FP32});
  return check_reduce_scatter(list, to_fp32);
}

std::vector<double> sums_of_first(const List& list, const ReduceOptions& options) {
  return check_reduce_scatter(list, options)[0];
}

TEST(Cases, V01FewerRowsThanRanks) {
  ONLY_ON(8);
  List list(world(), {param(2, 6), param(1, 1)});
  expect_rows(list, 0, {1, 1, 0, 0, 0, 0, 0, 0});
  expect_rows(list, 1, {1, 0, 0, 0, 0, 0, 0, 0});
  const Shards sums = check_both(list);
  expect_ends(list, sums, 0, -36, 22);
  expect_ends(list, sums, 1, 6, 6);
}

TEST(Cases, V02FiveRowsOverTwo) {
  ONLY_ON(2);
  List list(world(), {param(5, 3)});
  expect_rows(list, 0, {3, 2});
  MPIX_Tide_param told;
  int n = 0;
  TIDE_OK(MPIX_Tide_group_get(list.group(), nullptr, &n, &told));
  EXPECT_EQ(1, n);
  EXPECT_EQ(5, told.rows);
  const Shards sums = check_both(list);
  expect_ends(list, sums, 0, -27, -17);
  double mine = 0, total = 0;
  for (double v : sums[0]) mine += v;
  MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(-51.0, total);
}

TEST(Cases, V03PaddingNeverShows) {  // runs with MALLOC_PERTURB_=255
  ONLY_ON(4);
  List list(world(), {param(5, 8), param(3, 4)});
  expect_rows(list, 0, {2, 2, 1, 0});
  expect_rows(list, 1, {1, 1, 1, 0});
  const Shards sums = check_both(list);
  for (const auto& p : sums) {
    for (double v : p) EXPECT_TRUE(std::isfinite(v));
  }
  expect_ends(list, sums, 0, -42, -4);
  expect_ends(list, sums, 1, 10, -23);
}

TEST(Cases, V04EmptyParameters) {
  ONLY_ON(4);
  List list(world(), {param(0, 8), param(6, 4), param(4, 0)});
  expect_rows(list, 0, {0, 0, 0, 0});
  expect_rows(list, 1, {2, 2, 2, 0});
  expect_ends(list, check_both(list), 1, 10, 34);
}

TEST(Cases, V05OffsetsAfterUnevenParameters) {
  ONLY_ON(3);
  List list(world(), {param(7, 1), param(5, 3), param(1, 1), param(4, 2)});
  expect_rows(list, 0, {3, 3, 1});
  expect_rows(list, 1, {2, 2, 1});
  expect_rows(list, 2, {1, 0, 0});
  expect_rows(list, 3, {2, 2, 0});
  const Shards sums = check_both(list);
  expect_ends(list, sums, 0, -36, -3);
  expect_ends(list, sums, 1, 3, 18);
  expect_ends(list, sums, 2, 11, 11);
  expect_ends(list, sums, 3, -12, 11);
}

TEST(Cases, V07Bf16AndFp32InOneList) {
  ONLY_ON(2);
  List list(world(), {param(4, 4, MPIX_TIDE_BF16), param(3, 4, MPIX_TIDE_FP32)});
  check_both(list);
  check_reduce_scatter(list);
}

TEST(Cases, V08NoRoundingToBf16OnTheWay) {
  ONLY_ON(8);
  List list(world(), {param(16, 8)});
  const auto pattern = [](int r, int, size_t) { return r == 0 ? 256.0 : 1.0; };
  for (Memory memory : {Memory::tide, Memory::foreign}) {
    for (double v :
         sums_of_first(list, {.grads = memory, .out_dtype = MPIX_TIDE_FP32, .pattern = pattern})) {
      ASSERT_EQ(263.0, v) << "256 is the known fault: bf16 between the additions";
    }
  }
}

TEST(Cases, V09AverageAtEverySize) {
  ONLY_ON(4);
  const MPI_Count most = 8 << 20;  // elements: 16 MiB of bf16
  Pieces grads(world(), Memory::tide, {static_cast<size_t>(most) * 2}),
      shards(world(), Memory::tide, {static_cast<size_t>(most)});
  for (MPI_Count i = 0; i < most; ++i) static_cast<uint16_t*>(grads[0])[i] = 0x4100;  // 8.0
  for (MPI_Count elems = 1; elems <= most; elems *= 2) {
    List list(world(), {param(elems, 1)});
    shards.fill(0xFF);
    TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.list()), shards.list(), MPIX_TIDE_FP32,
                                     MPIX_TIDE_AVG, 1.0, list.group()));
    const auto* out = static_cast<const uint32_t*>(shards[0]);
    const size_t mine = list.shard_elems(0);
    size_t right = 0;
    while (right < mine && out[right] == 0x41000000u) ++right;
    ASSERT_EQ(mine, right) << elems << " elements: bits " << std::hex
                           << (right < mine ? out[right] : 0u);
    if (mine == static_cast<size_t>(most) / 4) continue;  // the buffer ends there
    ASSERT_EQ(0xFFFFFFFFu, out[mine]) << "written past the shard of " << elems;
  }
}

TEST(Cases, V09AverageOfFifteen) {
  ONLY_ON(15);
  List list(world(), {param(16, 5), param(1, 3)});
  const auto pattern = [](int r, int, size_t) { return static_cast<double>(r); };
  for (const auto& p : check_reduce_scatter(
           list, {.out_dtype = MPIX_TIDE_FP32, .op = MPIX_TIDE_AVG, .pattern = pattern})) {
    for (double v : p) ASSERT_EQ(7.0, v);
  }
}

TEST(Cases, V11NanAndInfinityStayLocal) {
  ONLY_ON(3);
  List list(world(), {param(4, 5)});
  const auto pattern = [](int r, int p, size_t i) -> double {
    if (i == 5 && r == 1) return NAN;
    if (i == 7 && r == 2) return INFINITY;
    if (i == 12 && r == 0) return INFINITY;
    if (i == 12 && r == 2) return -INFINITY;
    return small_integers(r, p, i);
  };
  for (Memory memory : {Memory::tide, Memory::foreign}) {
    const Shards sums = check_reduce_scatter(
        list, {.grads = memory, .out_dtype = MPIX_TIDE_FP32, .pattern = pattern});
    for (size_t j = 0; j < sums[0].size(); ++j) {
      const size_t i = list.first_elem(0, world().rank) + j;
      if (i == 5 || i == 12)
        EXPECT_TRUE(std::isnan(sums[0][j])) << i;
      else if (i == 7)
        EXPECT_EQ(INFINITY, sums[0][j]);
      else
        EXPECT_TRUE(std::isfinite(sums[0][j])) << i;
    }
  }
}

TEST(Cases, V12SubnormalsAndMinusZero) {
  ONLY_ON(4);
  for (int n : {1, 2, 4}) {
    Comm part(split(MPI_COMM_WORLD, world().rank < n ? 0 : -1, world().rank));
    if (part == MPI_COMM_NULL) continue;
    const Team team = team_of(part);
    List list(team, {param(9, 4)});
    for (Memory memory : {Memory::tide, Memory::foreign}) {
      const auto tiny = [](int, int, size_t) { return 0x1p-133; };  // bf16 bits 0x0001
      for (double v :
           sums_of_first(list, {.grads = memory, .out_dtype = MPIX_TIDE_FP32, .pattern = tiny}))
        ASSERT_EQ(n * 0x1p-133, v);
      const auto minus = [](int, int, size_t) { return -0.0; };
      for (double v :
           sums_of_first(list, {.grads = memory, .out_dtype = MPIX_TIDE_FP32, .pattern = minus})) {
        ASSERT_TRUE(v == 0 && std::signbit(v)) << "a sum of -0 is -0";
      }
    }
  }
}

TEST(Cases, V13SameBitsEveryTime) {
  ONLY_ON(4);
  const auto pattern = [](int r, int, size_t) {
    return r == 0 ? 100139008.0 : r == 2 ? -100139008.0 : 1.0;
  };
  List list(world(), {param(5, 3)}), ranked(world(), {param(5, 3)}, Info{{"tide_order", "rank"}});
  std::mt19937 random(static_cast<unsigned>(42 + world().rank));
  std::set<double> seen;
  for (int call = 0; call < 200; ++call) {
    usleep(random() % 20000);
    if (call % 20 == 7) {
      List a(world(), {param(64, 3)}), b(world(), {param(3, 64, MPIX_TIDE_FP32)}),
          c(world(), {param(1, 1)});
      check_reduce_scatter(b);
    }
    const ReduceOptions options{.grads = call % 2 ? Memory::foreign : Memory::tide,
                                .out_dtype = MPIX_TIDE_FP32,
                                .pattern = pattern};
    for (double v : sums_of_first(list, options)) seen.insert(v);
    if (call % 10 == 0) {
      for (double v : sums_of_first(ranked, options)) ASSERT_EQ(1.0, v) << "rank order";
    }
  }
  if (list.shard_elems(0) == 0) return;
  ASSERT_EQ(1u, seen.size()) << "different bits from the same input";
  EXPECT_TRUE(*seen.begin() == 0 || *seen.begin() == 1 || *seen.begin() == 2) << *seen.begin();
}

TEST(Cases, V15OneRankAndOneElement) {
  const Team self = team_of(MPI_COMM_SELF);
  List list(self, {param(1, 1, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16))});
  const auto three = [](int, int, size_t) { return 3.0; };
  for (int op : {MPIX_TIDE_SUM, MPIX_TIDE_AVG}) {
    for (Memory memory : {Memory::tide, Memory::foreign}) {
      EXPECT_EQ(3.0,
                check_reduce_scatter(
                    list, {.grads = memory, .shards = memory, .op = op, .pattern = three})[0][0]);
      check_reduce_scatter(
          list,
          {.grads = memory, .shards = memory, .op = op, .accumulate = true, .pattern = three});
    }
  }
  check_allgather(list);
}

TEST(Cases, V16DifferentRowsAreRefusedOnAll) {
  ONLY_ON(4);
  const MPIX_Tide_param mine = param(world().rank == 2 ? 8 : 9, 2);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const int code = MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &mine, MPI_INFO_NULL, &group);
  expect_failure_on_all(world(), code, {mismatch}, {"rank 2", "rows", "8", "9", "0"});
  EXPECT_EQ(MPIX_TIDE_GROUP_NULL, group);
  expect_usable(world());
}

TEST(Cases, V17UnevenNodesOfFive) {
  ONLY_ON(5);
  List list(world(), {param(11, 5), param(2, 3)});
  expect_rows(list, 0, {3, 3, 3, 2, 0});
  expect_rows(list, 1, {1, 1, 0, 0, 0});
  const Shards sums = check_both(list);
  expect_ends(list, sums, 0, -45, -15);
  expect_ends(list, sums, 1, 20, 40);
}

TEST(Cases, V17UnevenNodesOfSeven) {
  ONLY_ON(7);
  List list(world(), {param(9, 5), param(3, 2)});
  expect_rows(list, 0, {2, 2, 2, 2, 1, 0, 0});
  expect_rows(list, 1, {1, 1, 1, 0, 0, 0, 0});
  const Shards sums = check_both(list);
  expect_ends(list, sums, 0, -42, -25);
  expect_ends(list, sums, 1, 18, 15);
}

TEST(Cases, V18RanksDealtOutCyclically) {
  ONLY_ON(6);
  List list(world(), {param(13, 4)});
  expect_rows(list, 0, {3, 3, 3, 3, 1, 0});
  expect_ends(list, check_both(list), 0, -45, 20);
}

TEST(Cases, V18EveryRankANode) {
  ONLY_ON(3);
  List list(world(), {param(5, 3)});
  expect_rows(list, 0, {2, 2, 1});
  expect_ends(list, check_both(list), 0, -36, -21);
}

TEST(Cases, V19ThreeNodes) {
  ONLY_ON(6);
  List list(world(), {param(23, 3)});
  expect_rows(list, 0, {4, 4, 4, 4, 4, 3});
  expect_ends(list, check_both(list), 0, -45, 21);
}

TEST(Cases, V19FiveNodes) {
  ONLY_ON(10);
  List list(world(), {param(23, 3)});
  expect_rows(list, 0, {3, 3, 3, 3, 3, 3, 3, 2, 0, 0});
  expect_ends(list, check_both(list), 0, -15, 2);
}

TEST(Cases, V20ReadOnlyInputs) {
  if (world().size < 3 || world().size > 5) GTEST_SKIP() << "for 3 to 5 ranks";
  List list(world(), {param(5, 3)});
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // The gradient ends at the end of a page, the page after it cannot be read: one byte too many is
  // a fault.
  const auto guarded = [&](size_t bytes, void** at) {
    auto* base = static_cast<unsigned char*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(MAP_FAILED, static_cast<void*>(base));
    mprotect(base + page, page, PROT_NONE);
    *at = bytes ? base + page - bytes : nullptr;
    return base;
  };
  void *grad, *shard;
  unsigned char* g = guarded(list.grad_bytes()[0], &grad);
  unsigned char* s = guarded(list.shard_bytes()[0], &shard);
  write_grads(list, &grad, to_fp32);
  write_shards(list, &shard, 4);
  mprotect(g, page, PROT_READ);
  mprotect(s, page, PROT_READ);
  Pieces sums(world(), Memory::foreign, list.out_bytes(MPIX_TIDE_FP32)),
      full(world(), Memory::foreign, list.full_bytes());
  for (int call = 0; call < 3; ++call) {
    sums.fill(0xFF);
    full.fill(0xFF);
    TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(&grad), sums.list(), MPIX_TIDE_FP32,
                                     MPIX_TIDE_SUM, 1.0, list.group()));
    TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(&shard), full.list(), list.group()));
    expect_reduced(list, sums.list(), to_fp32, "read-only gradients");
    expect_gathered(list, full.list(), 4, "read-only shards");
    sums.expect_margins("read-only gradients");
    full.expect_margins("read-only shards");
  }
  munmap(g, 2 * page);
  munmap(s, 2 * page);
}

TEST(Cases, V21Aliases) {
  ONLY_ON(4);
  List list(world(), {param(5, 8)});
  check_allgather(list, {.in_place = InPlace::own_rows});
  for (Memory memory : {Memory::tide, Memory::foreign}) {
    Pieces full(world(), memory, list.full_bytes()), grads(world(), memory, {5 * 8 * 4});
    full.fill(0x11);
    const int other = world().rank == 0 ? 1 : 0;  // every rank passes rows that are another's
    void* shard = static_cast<unsigned char*>(full[0]) + list.first_elem(0, other) * 2;
    if (list.shard_elems(0) == 0) shard = nullptr;
    expect_failure_on_all(world(),
                          MPIX_Tide_allgather(MPIX_TIDE_INPUTS(&shard), full.list(), list.group()),
                          {buffer});
    Pieces right(world(), memory, list.shard_bytes());
    write_shards(list, right.list(), 1);
    void* one = world().rank == 1
                    ? shard
                    : right[0];  // only rank 1 is wrong: an error everywhere all the same
    expect_failure_on_all(
        world(), MPIX_Tide_allgather(MPIX_TIDE_INPUTS(&one), full.list(), list.group()), {buffer});
    void* out = list.shard_elems(0) ? static_cast<unsigned char*>(grads[0]) + 4 : nullptr;
    expect_failure_on_all(
        world(),
        MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.list()), &out, MPIX_TIDE_FP32,
                                 MPIX_TIDE_SUM, 1.0, list.group()),
        {buffer});
    check_allgather(list, {.salt = 6});
    check_reduce_scatter(list, to_fp32);
  }
}

TEST(Cases, V22KindsOfCommunicators) {
  ONLY_ON(4);
  Comm half(split(MPI_COMM_WORLD, world().rank / 2, world().rank));
  MPI_Comm inter_comm;
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world().rank / 2 ? 0 : 2, 5, &inter_comm);
  Comm inter(inter_comm);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  const MPIX_Tide_param p = param(5, 3);
  for (MPI_Comm comm : {static_cast<MPI_Comm>(inter), static_cast<MPI_Comm>(MPI_COMM_NULL)}) {
    MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
    void* base = nullptr;
    MPIX_Tide_topology topology;
    expect_failure(MPIX_Tide_group_create(comm, 1, &p, MPI_INFO_NULL, &group), {comm_class});
    expect_failure(MPIX_Tide_alloc(comm, 64, MPI_INFO_NULL, &base), {comm_class});
    expect_failure(MPIX_Tide_comm_topology(comm, &topology), {comm_class});
    EXPECT_EQ(MPIX_TIDE_GROUP_NULL, group);
    EXPECT_EQ(nullptr, base);
  }
  expect_usable(team_of(MPI_COMM_SELF));
  expect_usable(team_of(half));
}

TEST(Cases, V29AnyAlignmentAndWidth) {
  ONLY_ON(3);
  for (int dtype : {MPIX_TIDE_BF16, MPIX_TIDE_FP32}) {
    std::vector<MPIX_Tide_param> shapes;
    for (MPI_Count rows = 1; rows <= 9; ++rows) {
      for (MPI_Count k : {1, 3, 7, 17, 33}) shapes.push_back(param(rows, k, dtype));
    }
    std::vector<std::vector<MPIX_Tide_param>> lists;
    for (const auto& s : shapes) {
      if (s.row_elems == 7)
        lists.push_back({s});  // alone as well; the others in one list only, which costs less
    }
    lists.push_back(shapes);
    const size_t shift = size_of(dtype);
    for (const auto& params : lists) {
      List list(world(), params);
      for (Memory memory : {Memory::tide, Memory::foreign}) {
        check_allgather(list, {.shards = memory, .params = memory, .shift_bytes = shift});
        check_reduce_scatter(
            list,
            {.grads = memory, .shards = memory, .out_dtype = MPIX_TIDE_FP32, .shift_bytes = shift});
      }
    }
  }
}

TEST(Cases, V31FiveThousandParameters) {
  ONLY_ON(4);
  std::vector<MPIX_Tide_param> params;
  for (int p = 0; p < 5000; ++p) params.push_back(param(p % 7 + 1, p % 5 + 1));
  sync(world());
  const auto start = std::chrono::steady_clock::now();
  List list(world(), params);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const double ranks_per_core =
      std::max(1.0, 4.0 / static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_LT(took.count(), 2.0 * ranks_per_core) << "seconds for group_create";
  check_allgather(list);
  check_reduce_scatter(list, to_fp32);
  check_reduce_scatter(
      list, {.grads = Memory::foreign, .shards = Memory::foreign, .out_dtype = MPIX_TIDE_FP32});
}

}  // namespace
}  // namespace tide_test
