// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Requests with MPI_THREAD_MULTIPLE: a communicator for each thread, requests that one thread
// begins and another completes, and one group that two threads want at once.
#include <unistd.h>

#include <atomic>
#include <thread>

#include "operation.hpp"

namespace tide_test {
namespace {

// Made by the main thread; the thread itself only calls Tide, and compares at the end.
struct Work {
  explicit Work(uint64_t seed, MPI_Info info = MPI_INFO_NULL) : comm(dup(MPI_COMM_WORLD)) {
    const Memory memory = seed % 2 ? Memory::foreign : Memory::tide;
    all = several(team_of(comm), 3, {.inputs = memory, .outputs = memory}, info);
    for (const auto& a : all) a->write(seed);
  }
  void expect_right(const char* what) {
    EXPECT_EQ(MPI_SUCCESS, code) << what;
    for (const auto& a : all) a->expect_result(what);
  }
  void nonblocking(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (const auto& a : all) code |= a->begin();
      for (size_t k = 0; k < all.size(); ++k)
        code |= all[(k + static_cast<size_t>(round)) % all.size()]->wait();
    }
  }
  Comm comm;
  std::vector<std::unique_ptr<Operation>> all;
  int code = MPI_SUCCESS;
};

void four_threads(MPI_Info info) {
  std::vector<std::unique_ptr<Work>> works;
  for (uint64_t t = 0; t < 4; ++t) works.push_back(std::make_unique<Work>(t + 1, info));
  std::vector<std::thread> threads;
  for (auto& work : works) threads.emplace_back([&] { work->nonblocking(60); });
  for (auto& thread : threads) thread.join();
  for (auto& work : works) work->expect_right("four threads");
}

TEST(RequestThreads, FourThreadsWithACommunicatorEach) { four_threads(MPI_INFO_NULL); }

TEST(RequestThreads, FourThreadsBesideAProgressThread) {
  Info info{{"tide_progress", "thread"}};
  four_threads(info);
}

// V25.
TEST(RequestThreads, FiveHundredReduceScattersInEachOfFourThreads) {
  std::vector<std::unique_ptr<Work>> works;
  for (uint64_t t = 0; t < 4; ++t) works.push_back(std::make_unique<Work>(t + 1));
  std::vector<std::thread> threads;
  for (auto& work : works)
    threads.emplace_back([&] {
      for (int call = 0; call < 500; ++call) work->code |= work->all[1]->call();
    });
  for (auto& thread : threads) thread.join();
  for (auto& work : works) {
    EXPECT_EQ(MPI_SUCCESS, work->code);
    work->all[1]->expect_result("500 calls");
  }
}

// The main thread begins, others complete: a thread serves the requests of a communicator that it
// waits for, and those that nobody else drives.
TEST(RequestThreads, BegunHereCompletedThere) {
  Work x(1), y(2);
  for (int round = 0; round < 20; ++round) {
    for (Work* work : {&x, &y})
      for (const auto& a : work->all) work->code |= a->begin();
    std::thread other([&] {
      if (world().rank % 2) usleep(2000);
      for (const auto& a : y.all) y.code |= a->wait();
    });
    for (const auto& a : x.all) x.code |= a->wait();
    other.join();
  }
  x.expect_right("begun and completed in one thread");
  y.expect_right("completed in another thread");
}

// Thread A of every rank but the last is inside a call; then thread B's is refused, at once.
TEST(RequestThreads, OneGroupInTwoThreadsIsRefused) {
  if (world().size < 2) GTEST_SKIP();
  for (int form = 0; form < 2; ++form) {
    Operation a(world(), Collective::gather, {param(64, 33)});
    a.write(1);
    const bool last = world().rank == world().size - 1;
    int refused = MPI_ERR_REQUEST, code = MPI_SUCCESS;
    MPIX_Tide_request second = MPIX_TIDE_REQUEST_NULL;
    if (last) usleep(600000);
    std::thread other([&] {
      if (last) return;
      usleep(200000);
      refused = form ? MPIX_Tide_iallgather(a.in(), a.out(), a.list.group(), &second)
                     : MPIX_Tide_allgather(a.in(), a.out(), a.list.group());
      if (refused != MPI_SUCCESS) MPI_Error_class(refused, &refused);
    });
    code = a.call();
    other.join();
    TIDE_OK(code);
    EXPECT_EQ(MPI_ERR_REQUEST, refused);
    EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, second);
    a.expect_result("while another thread was refused");
  }
}

// Two threads complete one persistent request: each succeeds or is refused, and the request ends.
TEST(RequestThreads, OneRequestInTwoThreads) {
  Operation a(world(), Collective::reduce, {param(64, 33)});
  TIDE_OK(a.init());
  const auto fair = [](int code) {
    int error_class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
    return error_class == MPI_SUCCESS || error_class == MPI_ERR_REQUEST;
  };
  for (uint64_t round = 0; round < 100; ++round) {
    a.write(round);
    TIDE_OK(a.start());
    MPIX_Tide_request same = a.request;
    std::atomic<int> there = MPI_SUCCESS;
    std::thread other([&] {
      int flag = 0;
      there = round % 2 ? MPIX_Tide_wait(&same) : MPIX_Tide_test(&same, &flag);
    });
    const int here = MPIX_Tide_wait(&a.request);
    other.join();
    EXPECT_TRUE(fair(here) && fair(there)) << here << " and " << there;
    TIDE_OK(a.wait());
    a.expect_result("two threads, one request");
  }
}

}  // namespace
}  // namespace tide_test
