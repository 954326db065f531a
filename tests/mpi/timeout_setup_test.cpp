// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// TIDE_TIMEOUT=1 in the environment: it holds for calls that take no info key for it, and from the
// first of them on a communicator.  Two or more ranks, any map.
#include <cstdio>
#include <cstdlib>

#include "stopped.hpp"

namespace tide_test {
namespace {

class SetUpTimeout : public testing::Test {
 protected:
  void SetUp() override {
    const char* text = std::getenv("TIDE_TIMEOUT");
    ASSERT_TRUE(text && std::string(text) == "1") << "run with TIDE_TIMEOUT=1";
    if (world().size < 2) GTEST_SKIP();
  }
  // The last rank stops before `call`; the others' is over in time, and so is its own later.
  void stop_before(const char* what, const std::function<int()>& call,
                   Culprit culprit = Culprit::named) {
    Stopped stopped(world().size - 1);
    stopped.stop_here();
    if (!stopped.me()) {
      expect_timeout(stopped, what, call, culprit);
      Operation a(stopped.others(), Collective::gather, {param(9, 5)});
      check_nonblocking(a, 1, "without the stopped rank");
      stopped.resume();
    } else {
      const double begun_s = now_s();
      EXPECT_NE(MPI_SUCCESS, call()) << what;
      EXPECT_LT(now_s() - begun_s, timeout_bound_s());
    }
    sync(world());
  }
  const MPIX_Tide_param p_ = param(9, 5);
  MPIX_Tide_group group_ = MPIX_TIDE_GROUP_NULL;
  void* base_ = nullptr;
};

TEST_F(SetUpTimeout, GroupCreate) {
  Comm comm(dup(MPI_COMM_WORLD));
  stop_before(
      "group_create", [&] { return MPIX_Tide_group_create(comm, 1, &p_, MPI_INFO_NULL, &group_); },
      Culprit::unknown);
  EXPECT_EQ(MPIX_TIDE_GROUP_NULL, group_);
}

TEST_F(SetUpTimeout, AllocOfANewCommunicator) {
  Comm comm(dup(MPI_COMM_WORLD));
  stop_before(
      "alloc", [&] { return MPIX_Tide_alloc(comm, 8192, MPI_INFO_NULL, &base_); },
      Culprit::unknown);
  EXPECT_EQ(nullptr, base_);
}

TEST_F(SetUpTimeout, AllocWhereGroupsLive) {
  Comm comm(dup(MPI_COMM_WORLD));
  Operation a(team_of(comm), Collective::reduce, {param(9, 5)});
  check_nonblocking(a, 1, "before");
  stop_before("alloc", [&] { return MPIX_Tide_alloc(comm, 8192, MPI_INFO_NULL, &base_); });
  EXPECT_EQ(nullptr, base_);
  expect_broken("the group", [&] { return a.call(); });
  expect_local_calls(a);
}

TEST_F(SetUpTimeout, Topology) {
  Comm comm(dup(MPI_COMM_WORLD));
  MPIX_Tide_topology topology;
  stop_before(
      "comm_topology", [&] { return MPIX_Tide_comm_topology(comm, &topology); }, Culprit::unknown);
}

TEST_F(SetUpTimeout, NewCommunicators) {
  Comm comm(dup(MPI_COMM_WORLD));
  MPIX_Tide_topology topology;
  TIDE_OK(MPIX_Tide_comm_topology(comm, &topology));
  MPI_Comm node = MPI_COMM_NULL;
  stop_before("comm_node", [&] { return MPIX_Tide_comm_node(comm, &node); });
  EXPECT_EQ(MPI_COMM_NULL, node);
}

TEST_F(SetUpTimeout, BlockingCall) {
  Comm comm(dup(MPI_COMM_WORLD));
  Operation a(team_of(comm), Collective::gather, {param(9, 5)});
  a.write(1);
  stop_before("all-gather", [&] { return a.call(); });
  expect_broken("again", [&] { return a.call(); });
  expect_local_calls(a);
}

// One rank creates a group, the others wait for it in a call: both sides are told so.
TEST_F(SetUpTimeout, OneInSetUpOthersInACall) {
  Comm comm(dup(MPI_COMM_WORLD));
  Operation a(team_of(comm), Collective::gather, {param(9, 5)});
  check_nonblocking(a, 1, "before");
  a.write(1);
  const double begun_s = now_s();
  const int code =
      world().rank == 0 ? MPIX_Tide_group_create(comm, 1, &p_, MPI_INFO_NULL, &group_) : a.call();
  const std::string message = MPIX_Tide_error_message();
  expect_failure(code, {mismatch},
                 {"rank 0: is in MPIX_Tide_group_create", "others of this communicator",
                  "make calls in the same order on all ranks"});
  EXPECT_LT(now_s() - begun_s, timeout_bound_s());
  std::printf("rank %d: %s\n", world().rank, message.c_str());
  sync(world());
}

// The info key wins over the environment: 0 waits for ever.
TEST_F(SetUpTimeout, InfoWins) {
  Comm comm(dup(MPI_COMM_WORLD));
  Info never{{"tide_timeout", "0"}};
  Operation a(team_of(comm), Collective::gather, {param(9, 5)}, {}, never);
  a.write(1);
  Stopped stopped(world().size - 1);
  stopped.stop_here();
  if (world().rank == 0) {
    int code = a.begin();
    for (const double until = now_s() + 2 * timeout_bound_s(); now_s() < until;) {
      int flag = 0;
      if (code == MPI_SUCCESS) code = MPIX_Tide_test(&a.request, &flag);
      EXPECT_EQ(0, flag);
    }
    TIDE_OK(code);
    stopped.resume();
    TIDE_OK(a.wait());
  } else {
    if (!stopped.me()) stopped.resume();
    TIDE_OK(begin_and_wait(a));
  }
  a.expect_result("waited for ever");
}

}  // namespace
}  // namespace tide_test
