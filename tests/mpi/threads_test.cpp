// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: different communicators from different threads, in whatever order they come.
// Two or more ranks.
#include <unistd.h>

#include <memory>
#include <thread>

#include "list.hpp"

namespace tide_test {
namespace {

// Everything that a thread needs, made by the main thread; the thread itself only calls Tide and
// compares.
struct Work {
  explicit Work(uint64_t seed, Memory memory)
      : comm(dup(MPI_COMM_WORLD)),
        team(team_of(comm)),
        list(team, {param(64, 33), param(5, static_cast<MPI_Count>(seed))}),
        grads(team, memory, list.grad_bytes()),
        sums(team, memory, list.out_bytes(MPIX_TIDE_FP32)),
        shards(team, memory, list.shard_bytes()),
        full(team, memory, list.full_bytes()) {
    write_grads(list, grads.list(), options);
    write_shards(list, shards.list(), seed);
  }
  void reduce() {
    code |= MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.list()), sums.list(), MPIX_TIDE_FP32,
                                     MPIX_TIDE_SUM, 1.0, list.group());
  }
  void gather() {
    code |= MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), full.list(), list.group());
  }
  Comm comm;
  Team team;
  List list;
  Pieces grads, sums, shards, full;
  ReduceOptions options{.out_dtype = MPIX_TIDE_FP32, .pattern = rough};
  int code = MPI_SUCCESS;
};

TEST(Threads, LevelIsMultiple) {
  int level = 0;
  MPI_Query_thread(&level);
  ASSERT_EQ(MPI_THREAD_MULTIPLE, level) << "run with --thread-multiple, on an MPI that has it";
}

// On rank 0 thread A comes first, on rank 1 thread B: neither may keep the other from being served.
TEST(Threads, TwoCommunicatorsInOppositeOrder) {
  for (Memory memory : {Memory::tide, Memory::foreign}) {
    Work a(3, memory), b(4, memory);
    for (int round = 0; round < 20; ++round) {
      const bool a_first = (world().rank + round) % 2 == 0;
      std::thread other([&] {
        if (a_first) usleep(2000);
        b.reduce();
        b.gather();
      });
      if (!a_first) usleep(2000);
      a.gather();
      a.reduce();
      other.join();
    }
    for (Work* work : {&a, &b}) {
      EXPECT_EQ(MPI_SUCCESS, work->code);
      expect_reduced(work->list, work->sums.list(), work->options, "two threads");
      expect_gathered(work->list, work->full.list(), work == &a ? 3 : 4, "two threads");
    }
  }
}

TEST(Threads, FourThreadsWithACommunicatorEach) {
  const int calls = 100;
  std::vector<std::unique_ptr<Work>> works;
  for (uint64_t t = 0; t < 4; ++t)
    works.push_back(std::make_unique<Work>(t + 1, t % 2 ? Memory::foreign : Memory::tide));
  std::vector<std::thread> threads;
  for (auto& work : works) {
    threads.emplace_back([&] {
      for (int call = 0; call < calls; ++call) call % 2 ? work->gather() : work->reduce();
    });
  }
  for (auto& thread : threads) thread.join();
  for (uint64_t t = 0; t < 4; ++t) {
    EXPECT_EQ(MPI_SUCCESS, works[t]->code);
    expect_reduced(works[t]->list, works[t]->sums.list(), works[t]->options, "four threads");
    expect_gathered(works[t]->list, works[t]->full.list(), t + 1, "four threads");
  }
}

TEST(Threads, GroupsComeAndGoInTwoThreads) {
  Comm a(dup(MPI_COMM_WORLD)), b(dup(MPI_COMM_WORLD));
  int failures[2] = {0, 0};
  const auto cycle = [&](MPI_Comm comm, int which) {
    const MPIX_Tide_param p = param(9, 5);
    for (int round = 0; round < 20; ++round) {
      MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
      void* base = nullptr;
      failures[which] += MPIX_Tide_group_create(comm, 1, &p, MPI_INFO_NULL, &group) != MPI_SUCCESS;
      failures[which] += MPIX_Tide_alloc(comm, 5000, MPI_INFO_NULL, &base) != MPI_SUCCESS;
      failures[which] += MPIX_Tide_free(MPI_COMM_NULL, base) != MPI_SUCCESS;
      failures[which] += MPIX_Tide_group_free(&group) != MPI_SUCCESS;
    }
  };
  std::thread other(cycle, static_cast<MPI_Comm>(b), 1);
  cycle(a, 0);
  other.join();
  EXPECT_EQ(0, failures[0]);
  EXPECT_EQ(0, failures[1]);
}

TEST(Threads, LastErrorIsTheThreadsOwn) {
  List list(world(), {param(5, 3)});
  expect_failure(MPIX_Tide_group_shard(list.group(), 77, 0, nullptr, nullptr), {arg}, {"77"});
  std::string there;
  std::thread other([&] {
    there = MPIX_Tide_error_message();
    MPIX_Tide_group_shard(list.group(), 88, 0, nullptr, nullptr);
  });
  other.join();
  EXPECT_EQ(std::string::npos, there.find("77")) << there;
  EXPECT_NE(std::string::npos, std::string(MPIX_Tide_error_message()).find("77"))
      << MPIX_Tide_error_message();
}

}  // namespace
}  // namespace tide_test
