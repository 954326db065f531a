// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a request may be asked in each of its states: null, inactive, active, complete.
#include <algorithm>
#include <vector>

#include "operation.hpp"

namespace tide_test {
namespace {

void expect_over_at_once(MPIX_Tide_request* r) {
  const MPIX_Tide_request before = *r;
  int flag = 0;
  TIDE_OK(MPIX_Tide_wait(r));
  TIDE_OK(MPIX_Tide_test(r, &flag));
  EXPECT_EQ(1, flag);
  TIDE_OK(MPIX_Tide_wait_inputs(r));
  flag = 0;
  TIDE_OK(MPIX_Tide_test_inputs(r, &flag));
  EXPECT_EQ(1, flag);
  EXPECT_EQ(before, *r);
}

class Request : public testing::TestWithParam<Collective> {
 protected:
  Operation a_{world(), GetParam(), {param(64, 33), param(5, 3)}};
  Operation b_{world(), Collective::reduce, {param(9, 5)}};
};
INSTANTIATE_TEST_SUITE_P(Both, Request, testing::Values(Collective::gather, Collective::reduce),
                         [](const auto& info) {
                           return info.param == Collective::gather ? "Allgather" : "ReduceScatter";
                         });

TEST(NullRequest, WaitAndTestSucceed) {
  MPIX_Tide_request none = MPIX_TIDE_REQUEST_NULL, several[3] = {none, none, none};
  expect_over_at_once(&none);
  TIDE_OK(MPIX_Tide_waitall(3, several));
  TIDE_OK(MPIX_Tide_waitall(0, several));
  int flag = 0;
  TIDE_OK(MPIX_Tide_testall(3, several, &flag));
  EXPECT_EQ(1, flag);
}

TEST(NullRequest, CannotBeStartedSetFreedOrGiven) {
  MPIX_Tide_request none = MPIX_TIDE_REQUEST_NULL;
  MPI_Request given = MPI_REQUEST_NULL;
  expect_failure(MPIX_Tide_start(&none), {request});
  expect_failure(MPIX_Tide_startall(1, &none), {request});
  expect_failure(MPIX_Tide_request_set(none, MPIX_TIDE_SUM, 1.0), {request});
  expect_failure(MPIX_Tide_request_free(&none), {request});
  expect_failure(MPIX_Tide_request_mpi(none, &given), {request});
  EXPECT_EQ(MPI_REQUEST_NULL, given);
}

TEST_P(Request, MissingOutputsAreArgErrors) {
  TIDE_OK(a_.init());
  int flag = 0;
  expect_failure(MPIX_Tide_wait(nullptr), {arg, request});
  expect_failure(MPIX_Tide_test(nullptr, &flag), {arg, request});
  expect_failure(MPIX_Tide_test(&a_.request, nullptr), {arg});
  expect_failure(MPIX_Tide_test_inputs(&a_.request, nullptr), {arg});
  expect_failure(MPIX_Tide_testall(1, &a_.request, nullptr), {arg});
  expect_failure(MPIX_Tide_waitall(1, nullptr), {arg, request});
  expect_failure(MPIX_Tide_waitall(-1, &a_.request), {arg, count});
  expect_failure(MPIX_Tide_start(nullptr), {arg, request});
  expect_failure(MPIX_Tide_request_free(nullptr), {arg, request});
  expect_failure(MPIX_Tide_request_mpi(a_.request, nullptr), {arg});
  expect_failure(MPIX_Tide_iallgather(b_.in(), b_.out(), MPIX_TIDE_GROUP_NULL, &b_.request), {arg});
  EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, b_.request);
  a_.write(1);  // none of this started anything or spoiled the request
  TIDE_OK(a_.start());
  TIDE_OK(a_.wait());
  a_.expect_result("after refused calls");
}

TEST_P(Request, NonblockingEndsAsNull) {
  check_nonblocking(a_, 1, "wait");
  a_.write(2);
  TIDE_OK(a_.begin());
  EXPECT_NE(MPIX_TIDE_REQUEST_NULL, a_.request);
  TIDE_OK(a_.test_until_over());
  EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, a_.request);
  a_.expect_result("test");
  for (int round = 3; round < 6; ++round) {  // the array forms, among null ones
    a_.write(static_cast<uint64_t>(round));
    b_.write(static_cast<uint64_t>(round));
    TIDE_OK(a_.begin());
    TIDE_OK(b_.begin());
    MPIX_Tide_request all[4] = {MPIX_TIDE_REQUEST_NULL, b_.request, MPIX_TIDE_REQUEST_NULL,
                                a_.request};
    a_.request = b_.request = MPIX_TIDE_REQUEST_NULL;
    int flag = 0;
    if (round % 2) TIDE_OK(MPIX_Tide_waitall(4, all));
    while (round % 2 == 0 && !flag) TIDE_OK(MPIX_Tide_testall(4, all, &flag));
    for (MPIX_Tide_request r : all) {
      EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, r);
    }
    a_.expect_result("array form");
    b_.expect_result("array form");
  }
}

TEST_P(Request, InactiveSucceedsAtOnce) {
  TIDE_OK(a_.init());
  ASSERT_NE(MPIX_TIDE_REQUEST_NULL, a_.request);
  expect_over_at_once(&a_.request);
  a_.write(1);
  sync(world());  // creation alone moves nothing
  a_.expect_outputs_untouched("inactive");
  TIDE_OK(a_.start());
  TIDE_OK(a_.wait());
  expect_over_at_once(&a_.request);
  a_.expect_result("persistent");
}

TEST_P(Request, HundredRestartsWithOtherData) {
  TIDE_OK(a_.init());
  const MPIX_Tide_request handle = a_.request;
  const int ops[] = {MPIX_TIDE_SUM, MPIX_TIDE_AVG};
  for (int round = 0; round < 100 && !HasFailure(); ++round) {
    if (GetParam() == Collective::reduce) a_.set(ops[round % 2], 1.0 / (1 + round % 5));
    a_.write(static_cast<uint64_t>(round));
    TIDE_OK(round % 3 ? a_.start() : MPIX_Tide_startall(1, &a_.request));
    TIDE_OK(round % 5 ? a_.wait() : a_.test_until_over());
    EXPECT_EQ(handle, a_.request);
    a_.expect_result("restart");
  }
  TIDE_OK(MPIX_Tide_request_free(&a_.request));
  EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, a_.request);
}

// Refused without entering: only rank 0 makes the mistakes, and the operations go on.
TEST_P(Request, StartOfActiveOrNonblockingIsRefused) {
  TIDE_OK(a_.init());
  for (int round = 0; round < 5; ++round) {
    a_.write(static_cast<uint64_t>(round));
    b_.write(static_cast<uint64_t>(round));
    TIDE_OK(a_.start());
    TIDE_OK(b_.begin());
    if (world().rank == 0) {
      expect_failure(MPIX_Tide_start(&a_.request), {request});
      expect_failure(MPIX_Tide_startall(1, &a_.request), {request});
      expect_failure(MPIX_Tide_start(&b_.request), {request});
    }
    TIDE_OK(b_.wait());
    TIDE_OK(a_.wait());
    a_.expect_result("started twice");
    b_.expect_result("nonblocking started");
  }
}

TEST_P(Request, SetOnlyWhereItMakesSense) {
  TIDE_OK(a_.init());
  a_.write(1);
  b_.write(1);
  TIDE_OK(a_.start());
  TIDE_OK(b_.begin());
  if (world().rank == 0) {
    expect_failure(MPIX_Tide_request_set(a_.request, MPIX_TIDE_AVG, 2.0), {request});
    expect_failure(MPIX_Tide_request_set(b_.request, MPIX_TIDE_AVG, 2.0), {request});
  }
  TIDE_OK(a_.wait());
  TIDE_OK(b_.wait());
  a_.expect_result("set while active");
  b_.expect_result("set of a nonblocking one");
  if (GetParam() == Collective::gather)
    expect_failure(MPIX_Tide_request_set(a_.request, MPIX_TIDE_AVG, 2.0), {request});
}

TEST_P(Request, OneActiveRequestPerGroup) {
  MPIX_Tide_request second = MPIX_TIDE_REQUEST_NULL;
  const MPIX_Tide_group group = a_.list.group();
  for (int round = 0; round < 4; ++round) {
    a_.write(static_cast<uint64_t>(round));
    TIDE_OK(a_.begin());
    if (world().rank == 0 || round % 2) {  // local: on one rank or on all
      const int code = GetParam() == Collective::gather
                           ? MPIX_Tide_iallgather(a_.in(), a_.out(), group, &second)
                           : MPIX_Tide_ireduce_scatter(a_.in(), a_.out(), MPIX_TIDE_FP32,
                                                       MPIX_TIDE_SUM, 1.0, group, &second);
      expect_failure(code, {request});
      EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, second);
      expect_failure(a_.call(), {request});
    }
    TIDE_OK(a_.wait());
    a_.expect_result("refused a second");
  }
}

TEST_P(Request, PersistentOnesOfAGroupTakeTurns) {
  TIDE_OK(a_.init());
  const MPIX_Tide_request first = a_.request;
  TIDE_OK(a_.init());
  MPIX_Tide_request both[2] = {first, a_.request};
  for (int round = 0; round < 6; ++round) {
    a_.write(static_cast<uint64_t>(round));
    TIDE_OK(MPIX_Tide_start(&both[round % 2]));
    if (world().rank == 0) expect_failure(MPIX_Tide_start(&both[1 - round % 2]), {request});
    TIDE_OK(MPIX_Tide_wait(&both[round % 2]));
    a_.expect_result("taking turns");
    a_.write(static_cast<uint64_t>(round + 50));
    TIDE_OK(a_.call());  // the blocking form between them
    a_.expect_result("blocking between persistent ones");
  }
  for (MPIX_Tide_request& r : both) TIDE_OK(MPIX_Tide_request_free(&r));
  a_.request = MPIX_TIDE_REQUEST_NULL;
}

TEST_P(Request, WaitallMixesAllStates) {
  Operation c(world(), Collective::gather, {param(6, 7)});
  TIDE_OK(a_.init());
  TIDE_OK(c.init());
  a_.write(1), b_.write(1), c.write(1);
  TIDE_OK(a_.start());
  TIDE_OK(b_.begin());
  MPIX_Tide_request all[4] = {c.request, b_.request, MPIX_TIDE_REQUEST_NULL, a_.request};
  TIDE_OK(MPIX_Tide_waitall(4, all));
  EXPECT_EQ(c.request, all[0]);
  EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, all[1]);
  EXPECT_EQ(a_.request, all[3]);
  b_.request = all[1];
  a_.expect_result("waitall, persistent");
  b_.expect_result("waitall, nonblocking");
  c.expect_outputs_untouched("waitall, inactive");
  MPIX_Tide_request two[2] = {a_.request, c.request};
  a_.write(2), c.write(2);
  TIDE_OK(MPIX_Tide_startall(2, two));
  TIDE_OK(MPIX_Tide_waitall(2, two));
  a_.expect_result("startall");
  c.expect_result("startall");
  if (world().rank == 0) {
    MPIX_Tide_request none[2] = {MPIX_TIDE_REQUEST_NULL, MPIX_TIDE_REQUEST_NULL};
    expect_failure(MPIX_Tide_startall(2, none), {request});
  }
}

// A handle that was copied before its request ended is told from a live one.
TEST_P(Request, StaleHandleIsRefused) {
  a_.write(1);
  TIDE_OK(a_.begin());
  MPIX_Tide_request stale = a_.request;
  TIDE_OK(a_.wait());
  expect_failure(MPIX_Tide_wait(&stale), {request, arg});
  expect_failure(MPIX_Tide_start(&stale), {request, arg});
  expect_failure(MPIX_Tide_request_free(&stale), {request, arg});
}

TEST_P(Request, NoMpiRequestWithoutAProgressThread) {
  a_.write(1);
  TIDE_OK(a_.begin());
  MPI_Request given = MPI_REQUEST_NULL;
  expect_failure(MPIX_Tide_request_mpi(a_.request, &given), {unsupported}, {"tide_progress"});
  EXPECT_EQ(MPI_REQUEST_NULL, given);
  TIDE_OK(a_.wait());
  a_.expect_result("refused an MPI request");
}

}  // namespace
}  // namespace tide_test
