// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// tide_progress = thread: operations complete without the caller.  Runs with and without
// MPI_THREAD_MULTIPLE; TEST_TIDE_CPU=n binds the process to one CPU before MPI starts.
#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "operation.hpp"
#include "slow_rail.hpp"

namespace tide_test {
namespace {

struct Bind {
  Bind() {
    const char* cpu = std::getenv("TEST_TIDE_CPU");
    if (!cpu) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(std::atoi(cpu), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) std::abort();
  }
} bind_before_main;

bool multiple() {
  int level = 0;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}
bool one_node() { return world().members.size() == 1; }
bool supported() { return multiple() || one_node(); }

std::set<int> threads() {
  std::set<int> found;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks))
    if (const int id = std::atoi(entry->d_name)) found.insert(id);
  closedir(tasks);
  return found;
}

std::string cpus_allowed(int thread) {
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("Cpus_allowed:", 0) == 0) return line.substr(13);
  return "";
}

double cpu_s() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

Info& by_thread() {
  static Info& info = *new Info{{"tide_progress", "thread"}};  // MPI is over before statics end
  return info;
}

// First in this file: before it the process has no progress thread.
TEST(ProgressThread, StaysInsideTheProcessesCpus) {
  if (!supported()) GTEST_SKIP();
  const std::set<int> before = threads();
  Operation a(world(), Collective::gather, {param(64, 33)}, {}, by_thread());
  check_nonblocking(a, 1, "progress thread");
  int fresh = 0;
  for (int id : threads()) {
    if (before.count(id)) continue;
    ++fresh;
    EXPECT_EQ(cpus_allowed(getpid()), cpus_allowed(id)) << "thread " << id;
  }
  EXPECT_GE(fresh, 1) << "no thread was started";
  if (std::getenv("TEST_TIDE_CPU")) {
    std::istringstream mask(cpus_allowed(getpid()));
    unsigned cpus = 0;
    mask >> std::hex >> cpus;
    EXPECT_EQ(1u << std::atoi(std::getenv("TEST_TIDE_CPU")), cpus);
  }
}

// The thread also drives calls with a time limit, after times in which nobody drove any.
TEST(ProgressThread, CallsNoMpiWithoutThreadMultiple) {
  if (multiple() || !one_node()) GTEST_SKIP();
  Info info{{"tide_progress", "thread"}, {"tide_timeout", "60"}};
  Operation a(world(), Collective::reduce, {param(64, 33)}, {}, info);
  a.write(1);
  for (int round = 0; round < 3; round++) {
    usleep(300000);
    TIDE_OK(a.begin());
    usleep(100000);
    TIDE_OK(a.wait());
  }
  a.expect_result("progress thread");
  EXPECT_EQ(0U, calls_of_other_threads());
}

TEST(ProgressThread, CompletesWithoutTheCaller) {
  if (!supported()) GTEST_SKIP();
  for (Memory memory : {Memory::tide, Memory::foreign}) {
    const auto all = several(world(), 3, {.inputs = memory, .outputs = memory}, by_thread());
    for (const auto& a : all) a->write(4);
    for (const auto& a : all) TIDE_OK(a->begin());
    usleep(2000000);  // no call of Tide or MPI
    for (const auto& a : all) {
      a->expect_result("while the caller slept");
      int flag = 0;
      TIDE_OK(MPIX_Tide_test(&a->request, &flag));
      EXPECT_EQ(1, flag) << "not complete after 2 s without a call";
      EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, a->request);
    }
  }
}

TEST(ProgressThread, NothingIsTouchedBeforeItsRankHasStarted) {
  if (!supported()) GTEST_SKIP();
  const auto two = several(world(), 2, {}, by_thread());
  for (int late = 0; late < world().size; ++late) {
    for (const auto& a : two) a->write(static_cast<uint64_t>(late));
    if (world().rank == late) {
      usleep(100000);
      for (const auto& a : two) a->expect_outputs_untouched("before this rank has started");
    }
    for (const auto& a : two) TIDE_OK(a->begin());
    for (const auto& a : two) {
      TIDE_OK(a->wait());
      a->expect_result("progress thread, late rank");
    }
  }
}

TEST(ProgressThread, ManyRestartsBesidePolledOnes) {
  if (!supported()) GTEST_SKIP();
  const auto threaded = several(world(), 3, {}, by_thread()), polled = several(world(), 2);
  for (const auto& a : threaded) TIDE_OK(a->init());
  for (uint64_t round = 0; round < 20 && !testing::Test::HasFailure(); ++round) {
    for (const auto& a : threaded) {
      a->write(round);
      TIDE_OK(a->start());
    }
    for (const auto& a : polled) {
      a->write(round);
      TIDE_OK(a->begin());
    }
    if (round % 3 == 0) usleep(static_cast<useconds_t>(1000 * (world().rank % 3)));
    for (const auto& a : polled) {
      TIDE_OK(a->wait());
      a->expect_result("polled beside a thread");
    }
    for (const auto& a : threaded) {
      if (round % 2) {
        TIDE_OK(MPIX_Tide_wait_inputs(&a->request));
        a->spoil_inputs();
      }
      TIDE_OK(a->wait());
      a->expect_result("driven by a thread");
    }
    threaded[0]->write(round + 1000);
    TIDE_OK(threaded[0]->call());
    threaded[0]->expect_result("blocking call of a threaded group");
  }
}

TEST(ProgressThread, IdleCostsNothing) {
  if (!supported()) GTEST_SKIP();
  const auto all = several(world(), 3, {}, by_thread());
  for (const auto& a : all) {
    TIDE_OK(a->init());
    a->write(1);
    TIDE_OK(a->start());
    TIDE_OK(a->wait());
  }
  sync(world());
  usleep(200000);  // a thread may look around for a moment
  const double before = cpu_s();
  usleep(1000000);
  const double used = cpu_s() - before;
  sync(world());
  EXPECT_LT(used, 0.05) << "CPU seconds in one second without an active request";
}

TEST(ProgressThread, RefusedOnAllWithoutThreadMultiple) {
  if (supported()) GTEST_SKIP();
  const MPIX_Tide_param p = param(9, 5);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const int code = MPIX_Tide_group_create(world().comm, 1, &p, by_thread(), &group);
  expect_failure_on_all(world(), code, {unsupported}, {"MPI_THREAD_MULTIPLE"});
  EXPECT_EQ(MPIX_TIDE_GROUP_NULL, group);
  expect_usable(world());
  if (world().members.size() == static_cast<size_t>(world().size)) return;
  // A communicator inside one node needs no MPI on its way.
  Comm node(split(MPI_COMM_WORLD, world().my_node(), 0));
  Operation a(team_of(node), Collective::reduce, {param(64, 33)}, {}, by_thread());
  check_nonblocking(a, 1, "one node of several");
}

TEST(ProgressThread, GivesMpiRequests) {
  if (!multiple()) GTEST_SKIP() << "completing an MPI request is a call to MPI";
  const auto two = several(world(), 2, {}, by_thread());
  const int next = (world().rank + 1) % world().size,
            previous = (world().rank + world().size - 1) % world().size;
  for (int round = 0; round < 20; ++round) {
    for (const auto& a : two) {
      a->write(static_cast<uint64_t>(round));
      TIDE_OK(a->begin());
    }
    int sent = round, got = -1;
    MPI_Request all[4];
    TIDE_OK(MPIX_Tide_request_mpi(two[0]->request, &all[0]));
    MPI_Irecv(&got, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, &all[1]);
    TIDE_OK(MPIX_Tide_request_mpi(two[1]->request, &all[2]));
    MPI_Isend(&sent, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &all[3]);
    ASSERT_EQ(MPI_SUCCESS, MPI_Waitall(4, all, MPI_STATUSES_IGNORE));
    for (MPI_Request r : all) {
      EXPECT_EQ(MPI_REQUEST_NULL, r);
    }
    EXPECT_EQ(round, got);
    for (const auto& a : two) {
      a->expect_result("after MPI_Waitall");
      int flag = 0;
      TIDE_OK(MPIX_Tide_test(&a->request, &flag));
      EXPECT_EQ(1, flag) << "MPI says that it is over";
      EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, a->request);
    }
  }
}

TEST(ProgressThread, MpiRequestOfAPersistentOne) {
  if (!multiple()) GTEST_SKIP();
  Operation a(world(), Collective::reduce, {param(64, 33)}, {}, by_thread());
  TIDE_OK(a.init());
  for (uint64_t round = 0; round < 10; ++round) {
    a.write(round);
    TIDE_OK(a.start());
    MPI_Request given = MPI_REQUEST_NULL;
    TIDE_OK(MPIX_Tide_request_mpi(a.request, &given));
    if (round % 2) {
      ASSERT_EQ(MPI_SUCCESS, MPI_Wait(&given, MPI_STATUS_IGNORE));
      TIDE_OK(a.wait());
    } else {
      TIDE_OK(a.wait());
      ASSERT_EQ(MPI_SUCCESS, MPI_Wait(&given, MPI_STATUS_IGNORE));
    }
    a.expect_result("persistent, as an MPI request");
  }
}

// The rank that errs is told by wait, as ever; the MPI request completes.
TEST(ProgressThread, MpiRequestOfAFailedOne) {
  if (!multiple() || world().size < 2) GTEST_SKIP();
  Operation a(world(), Collective::gather, {param(64, 33)}, {}, by_thread());
  a.write(1);
  const void* in[1] = {world().rank == 1 ? nullptr : a.in()[0]};
  int code = MPIX_Tide_iallgather(in, a.out(), a.list.group(), &a.request);
  MPI_Request given = MPI_REQUEST_NULL;
  if (code == MPI_SUCCESS) {
    TIDE_OK(MPIX_Tide_request_mpi(a.request, &given));
    MPI_Wait(&given, MPI_STATUS_IGNORE);
    code = a.wait();
  }
  expect_failure_on_all(world(), code, {buffer});
  check_nonblocking(a, 2, "after a failure");
}

}  // namespace
}  // namespace tide_test
