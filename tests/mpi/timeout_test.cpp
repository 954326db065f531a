// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// tide_timeout against a rank that is stopped: every other rank has TIMEOUT within the bound and
// names that rank; the group is broken, everything else goes on; the stopped rank comes back to an
// error, not to a hang.  Two or more ranks, any map.
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "slow_rail.hpp"
#include "stopped.hpp"

namespace tide_test {
namespace {

Info& one_second() {
  static Info& info = *new Info{{"tide_timeout", "1"}};  // MPI is over before statics end
  return info;
}

class Timeout : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (world().size < 2) GTEST_SKIP();
  }
  int culprit() const { return GetParam() < 0 ? world().size - 1 : 1; }
  Operation small(const Team& team, Collective collective = Collective::gather) {
    return Operation(team, collective, {param(64, 33), param(5, 3)}, {}, one_second());
  }
};
INSTANTIATE_TEST_SUITE_P(Rank, Timeout, testing::Values(1, -1), [](const auto& info) {
  return std::string(info.param < 0 ? "Last" : "Second");
});

// Everything that must still work among the survivors, and on communicators without the culprit.
void expect_life_goes_on(const Stopped& stopped, const char* what) {
  SCOPED_TRACE(what);
  const auto two = several(stopped.others(), 2, {}, one_second());
  for (uint64_t round = 0; round < 3; ++round)
    for (const auto& a : two) check_nonblocking(*a, round, what);
  Operation self(team_of(MPI_COMM_SELF), Collective::reduce, {param(9, 5)}, {}, one_second());
  check_nonblocking(self, 1, what);
}

TEST_P(Timeout, StoppedBeforeABlockingCall) {
  for (Collective collective : {Collective::gather, Collective::reduce}) {
    Comm comm(dup(MPI_COMM_WORLD));
    Operation a = small(team_of(comm), collective), b = small(team_of(comm));
    Stopped stopped(culprit());
    a.write(1), b.write(1);
    TIDE_OK(a.call());
    a.expect_result("before");
    stopped.stop_here();
    if (!stopped.me()) {
      expect_timeout(stopped, "blocking call", [&] { return a.call(); });
      expect_broken("again", [&] { return a.call(); });
      expect_broken("another group of the communicator", [&] { return b.call(); });
      expect_broken("nonblocking", [&] { return begin_and_wait(b); });
      expect_broken("group_create", [&] {
        const MPIX_Tide_param p = param(3, 3);
        MPIX_Tide_group group;
        return MPIX_Tide_group_create(comm, 1, &p, one_second(), &group);
      });
      expect_life_goes_on(stopped, "communicators without the stopped rank");
      expect_local_calls(a);
      stopped.resume();
    } else {
      const double begun_s = now_s();
      expect_failure(a.call(), {{MPIX_TIDE_ERR_TIMEOUT, 0}, {MPIX_TIDE_ERR_PEER, 0}});
      EXPECT_LT(now_s() - begun_s, timeout_bound_s());
      expect_local_calls(a);
    }
    sync(world());
  }
  expect_usable(world());  // a communicator that was not in use
}

TEST_P(Timeout, StoppedBetweenStartAndWait) {
  Comm comm(dup(MPI_COMM_WORLD)), fresh(dup(MPI_COMM_WORLD));
  const auto five = several(team_of(comm), 5, {}, one_second());
  Operation outside = small(team_of(fresh));
  Stopped stopped(culprit());
  for (const auto& a : five) a->write(1);
  TIDE_OK(five[4]->init());
  stopped.stop_here();
  for (size_t i = 0; i < 4; ++i)
    if (!stopped.me()) TIDE_OK(five[i]->begin());
  if (!stopped.me()) {
    TIDE_OK(five[4]->start());
    expect_timeout(stopped, "wait", [&] { return five[1]->wait(); });
    EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, five[1]->request);
    expect_broken("wait of the first", [&] { return five[0]->wait(); });
    expect_broken("wait_inputs", [&] { return MPIX_Tide_wait_inputs(&five[2]->request); });
    five[2]->wait();
    expect_broken("test of a queued one", [&] { return five[3]->test_until_over(); });
    expect_broken("persistent", [&] { return five[4]->wait(); });
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, five[i]->request);
    }
    EXPECT_NE(MPIX_TIDE_REQUEST_NULL, five[4]->request);
    for (const auto& a : five) expect_local_calls(*a);
    stopped.resume();
  } else {
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_NE(MPI_SUCCESS, begin_and_wait(*five[i])) << i;
    }
    for (const auto& a : five) expect_local_calls(*a);
  }
  sync(world());
  check_nonblocking(outside, 3, "another communicator of the same ranks");
}

TEST_P(Timeout, StoppedWhileOthersTest) {
  Comm comm(dup(MPI_COMM_WORLD));
  Operation a = small(team_of(comm), Collective::reduce);
  Stopped stopped(culprit());
  a.write(1);
  stopped.stop_here();
  if (!stopped.me()) {
    // The clock runs inside waits: polling with test may see it or not, a wait does.
    int code = a.begin(), flag = 0;
    for (const double until = now_s() + 0.3; code == MPI_SUCCESS && now_s() < until;)
      code = MPIX_Tide_test(&a.request, &flag);
    TIDE_OK(code);
    expect_timeout(stopped, "wait after test", [&] { return a.wait(); });
    expect_local_calls(a);
    stopped.resume();
  } else {
    EXPECT_NE(MPI_SUCCESS, begin_and_wait(a));
    expect_local_calls(a);
  }
  sync(world());
}

TEST_P(Timeout, StoppedBesideAProgressThread) {
  int level = 0;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE && world().members.size() > 1) GTEST_SKIP();
  Info info{{"tide_timeout", "1"}, {"tide_progress", "thread"}};
  Comm comm(dup(MPI_COMM_WORLD));
  const auto two = several(team_of(comm), 2, {}, info);
  Stopped stopped(culprit());
  for (const auto& a : two) a->write(1);
  stopped.stop_here();
  if (!stopped.me()) {
    for (const auto& a : two) TIDE_OK(a->begin());
    expect_timeout(stopped, "wait", [&] { return two[0]->wait(); });
    expect_broken("the other", [&] { return two[1]->wait(); });
    for (const auto& a : two) expect_local_calls(*a);
    stopped.resume();
  } else {
    for (const auto& a : two) {
      EXPECT_NE(MPI_SUCCESS, begin_and_wait(*a));
    }
    for (const auto& a : two) expect_local_calls(*a);
  }
  sync(world());
}

// From outside, at an arbitrary point of calls that move much.
TEST_P(Timeout, StoppedInTheMiddleOfLargeCalls) {
  std::mt19937 common(11);
  for (int trial = 0; trial < 3; ++trial) {
    Comm comm(dup(MPI_COMM_WORLD));
    const Collective collective = trial % 2 ? Collective::gather : Collective::reduce;
    Operation a(team_of(comm), collective, {param(4096, 512), param(77, 1000)}, {}, one_second());
    a.write(1);
    TIDE_OK(a.call());
    Stopped stopped(culprit());
    stopped.stop_later(30 + static_cast<int>(common() % 100));
    double begun_s = 0;
    int code = MPI_SUCCESS;
    for (int call = 0; call < 100000 && code == MPI_SUCCESS; ++call) {
      begun_s = now_s();
      code = trial == 1 ? begin_and_wait(a) : a.call();
    }
    const double took_s = now_s() - begun_s;
    if (stopped.me()) {
      expect_failure(code, {{MPIX_TIDE_ERR_TIMEOUT, 0}, {MPIX_TIDE_ERR_PEER, 0}});
    } else {
      expect_failure(code, {{MPIX_TIDE_ERR_TIMEOUT, 0}}, {stopped.name()});
      EXPECT_LT(took_s, timeout_bound_s());
      expect_broken("again", [&] { return a.call(); });
    }
    expect_local_calls(a);
    stopped.resume();
    sync(world());
  }
  expect_usable(world());
}

TEST_P(Timeout, StoppedInGroupCreate) {
  Comm comm(dup(MPI_COMM_WORLD));
  Stopped stopped(culprit());
  const MPIX_Tide_param p = param(9, 5);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const auto create = [&] { return MPIX_Tide_group_create(comm, 1, &p, one_second(), &group); };
  stopped.stop_here();
  if (!stopped.me()) {
    expect_timeout(stopped, "the first group_create of a communicator", create, Culprit::unknown);
    EXPECT_EQ(MPIX_TIDE_GROUP_NULL, group);
    expect_life_goes_on(stopped, "after a set-up that timed out");
    stopped.resume();
  } else {
    EXPECT_NE(MPI_SUCCESS, create());
  }
  sync(world());
  expect_usable(world());
}

TEST_P(Timeout, StoppedInASecondGroupCreate) {
  Comm comm(dup(MPI_COMM_WORLD));
  Operation a = small(team_of(comm));
  check_nonblocking(a, 1, "before");
  Stopped stopped(culprit());
  const MPIX_Tide_param p = param(9, 5);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const auto create = [&] { return MPIX_Tide_group_create(comm, 1, &p, one_second(), &group); };
  stopped.stop_here();
  if (!stopped.me()) {
    expect_timeout(stopped, "a later group_create", create);
    expect_broken("the first group", [&] { return a.call(); });
    expect_local_calls(a);
    stopped.resume();
  } else {
    EXPECT_NE(MPI_SUCCESS, create());
    expect_local_calls(a);
  }
  EXPECT_EQ(MPIX_TIDE_GROUP_NULL, group);
  sync(world());
}

TEST(TimeoutCalm, LateRanksAreNoError) {
  const auto two = several(world(), 2, {}, one_second());
  for (int late = 0; late < 2 * world().size && late < 6; ++late) {
    for (const auto& a : two) a->write(static_cast<uint64_t>(late));
    if (late % world().size == world().rank) usleep(600000);
    for (const auto& a : two) TIDE_OK(a->begin());
    for (const auto& a : two) {
      TIDE_OK(a->wait());
      a->expect_result("late, within the timeout");
    }
  }
}

// The clock counts calls of Tide: a rank that computes for long between start and wait is alive.
TEST(TimeoutCalm, LongComputationBetweenStartAndWait) {
  const auto two = several(world(), 2, {}, one_second());
  for (const auto& a : two) {
    a->write(1);
    TIDE_OK(a->begin());
  }
  usleep(2500000);
  for (const auto& a : two) {
    TIDE_OK(a->wait());
    a->expect_result("computed for longer");
  }
}

// A transfer that takes longer than the timeout, but moves.
TEST(TimeoutCalm, SlowTransferIsNoError) {
  if (world().members.size() < 2) GTEST_SKIP() << "several nodes only";
  Info info{{"tide_timeout", "1"}, {"tide_chunk_bytes", "131072"}};
  for (Collective collective : {Collective::gather, Collective::reduce}) {
    Operation a(world(), collective, {param(2048, 1024, MPIX_TIDE_FP32)}, {}, info);
    a.write(2);
    sync(world());
    slow_rail(1 << 20);
    const double begun_s = now_s();
    TIDE_OK(a.call());
    const double took_s = now_s() - begun_s;
    slow_rail(0);
    a.expect_result("slow but moving");
    if (rail_messages_seen()) {
      EXPECT_GT(took_s, timeout_s()) << "this call was to take longer than the timeout";
    }
    sync(world());
  }
}

// Rank 1 calls on two communicators in the other order: all give up and say who waits for whom.
TEST(TimeoutOrder, TwoCommunicatorsInOppositeOrder) {
  if (world().size < 2) GTEST_SKIP();
  static std::string lines;
  MPIX_Tide_set_log([](int, const char* line, void*) { lines += std::string(line) + "\n"; },
                    nullptr);
  Comm x(dup(MPI_COMM_WORLD)), y(dup(MPI_COMM_WORLD));
  {
    Operation a(team_of(x), Collective::gather, {param(9, 5)}, {}, one_second());
    Operation b(team_of(y), Collective::reduce, {param(9, 5)}, {}, one_second());
    a.write(1), b.write(1);
    Operation& first = world().rank == 1 ? b : a;
    const double begun_s = now_s();
    const int code = first.call();
    const double took_s = now_s() - begun_s;
    const std::string told = lines + MPIX_Tide_error_message();
    expect_failure(code, {{MPIX_TIDE_ERR_TIMEOUT, 0}}, {"rank"});
    EXPECT_LT(took_s, timeout_bound_s());
    const bool gather = told.find("all-gather") + 1 || told.find("allgather") + 1;
    const bool reduce = told.find("reduce-scatter") + 1 || told.find("reduce_scatter") + 1;
    EXPECT_TRUE(world().rank == 1 ? reduce : gather) << "which operation waits: " << told;
    EXPECT_NE(std::string::npos, told.find(world().rank == 1 ? "rank 0" : "rank 1"))
        << "for whom: " << told;
    std::printf("rank %d: %s\n", world().rank, told.c_str());
    expect_local_calls(a);
    expect_local_calls(b);
  }
  MPIX_Tide_set_log(nullptr, nullptr);
  sync(world());
  expect_usable(world());
}

}  // namespace
}  // namespace tide_test
