// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// P13: 100,000 parameters in one list: exact, and memory grows with the list and no faster.
#include <unistd.h>

#include <cstdio>

#include "list.hpp"

namespace tide_test {
namespace {

std::vector<MPIX_Tide_param> many(int count) {
  std::vector<MPIX_Tide_param> list;
  for (int p = 0; p < count; ++p) list.push_back(param(p % 7 + 1, p % 5 + 1));
  return list;
}

size_t resident_bytes() {
  long pages = 0;
  FILE* file = std::fopen("/proc/self/statm", "r");
  EXPECT_EQ(1, std::fscanf(file, "%*d %ld", &pages));
  std::fclose(file);
  return static_cast<size_t>(pages) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// First, before the heap holds freed memory.
TEST(LongList, MemoryGrowsWithTheListAndNoFaster) {
  const auto cost = [](int count) {
    const auto params = many(count);
    const size_t before = resident_bytes();
    MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
    TIDE_OK(MPIX_Tide_group_create(MPI_COMM_WORLD, count, params.data(), MPI_INFO_NULL, &group));
    const size_t bytes = resident_bytes() - before;
    return std::pair(group, bytes);
  };
  auto [first, once] = cost(20000);  // all of them alive, so that nothing is used again
  auto [second, twice] = cost(40000);
  auto [third, ten_times] = cost(200000);
  if (world().rank == 0)
    std::printf("bytes a parameter: %zu, %zu, %zu\n", once / 20000, twice / 40000,
                ten_times / 200000);
  EXPECT_LT(ten_times, 2 * 10 * once);
  EXPECT_LT(ten_times, 2 * 5 * twice);
  EXPECT_LT(ten_times / 200000, 1024u) << "bytes a parameter";
  for (MPIX_Tide_group* group : {&first, &second, &third}) TIDE_OK(MPIX_Tide_group_free(group));
}

TEST(LongList, HundredThousandParametersAreExact) {
  List list(world(), many(100000));
  int nparams = 0;
  TIDE_OK(MPIX_Tide_group_get(list.group(), nullptr, &nparams, nullptr));
  EXPECT_EQ(100000, nparams);
  check_allgather(list);
  check_reduce_scatter(list, {.out_dtype = MPIX_TIDE_FP32});
  check_reduce_scatter(list, {.grads = Memory::scattered, .shards = Memory::foreign});
}

}  // namespace
}  // namespace tide_test
