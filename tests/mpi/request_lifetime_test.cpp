// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Requests against the lives of what they use: lists and infos are copied; request, group and
// communicator may be freed in any order; errors end a request like success does.
#include <algorithm>
#include <vector>

#include "operation.hpp"

namespace tide_test {
namespace {

class Lifetime : public testing::TestWithParam<Collective> {
 protected:
  Operation& make(const Team& team, MPI_Info info = MPI_INFO_NULL) {
    made_.push_back(std::make_unique<Operation>(
        team, GetParam(), std::vector<MPIX_Tide_param>{param(64, 33), param(5, 3)},
        OperationOptions{}, info));
    return *made_.back();
  }
  std::vector<std::unique_ptr<Operation>> made_;
};
INSTANTIATE_TEST_SUITE_P(Both, Lifetime, testing::Values(Collective::gather, Collective::reduce),
                         [](const auto& info) {
                           return info.param == Collective::gather ? "Allgather" : "ReduceScatter";
                         });

const void* nowhere() { return reinterpret_cast<const void*>(8); }  // reading there would crash

TEST_P(Lifetime, ListsAndInfoAreCopied) {
  Operation& a = make(world());
  const size_t n = a.list.count();
  for (int persistent = 0; persistent < 2; ++persistent) {
    a.write(3);
    std::vector<const void*> in(a.in(), a.in() + n);
    std::vector<void*> out(a.out(), a.out() + n);
    MPI_Info info = MPI_INFO_NULL;
    if (persistent) {
      MPI_Info_create(&info);
      MPI_Info_set(info, "somebody_elses_key", "1");
    }
    const MPIX_Tide_group g = a.list.group();
    int code = MPI_SUCCESS;
    if (GetParam() == Collective::gather)
      code = persistent ? MPIX_Tide_allgather_init(in.data(), out.data(), g, info, &a.request)
                        : MPIX_Tide_iallgather(in.data(), out.data(), g, &a.request);
    else
      code = persistent ? MPIX_Tide_reduce_scatter_init(in.data(), out.data(), MPIX_TIDE_FP32,
                                                        MPIX_TIDE_SUM, 1.0, g, info, &a.request)
                        : MPIX_Tide_ireduce_scatter(in.data(), out.data(), MPIX_TIDE_FP32,
                                                    MPIX_TIDE_SUM, 1.0, g, &a.request);
    TIDE_OK(code);
    std::fill(in.begin(), in.end(), nowhere());
    std::fill(out.begin(), out.end(), const_cast<void*>(nowhere()));
    if (persistent) MPI_Info_free(&info);
    for (int round = 0; round < (persistent ? 3 : 1); ++round) {
      if (persistent) {
        a.write(static_cast<uint64_t>(10 + round));
        TIDE_OK(a.start());
      }
      TIDE_OK(a.wait());
      a.expect_result("lists spoiled after the call");
    }
    if (persistent) TIDE_OK(MPIX_Tide_request_free(&a.request));
  }
}

// Two blocking calls later the slot of the freed request has been used again: it is over.
TEST_P(Lifetime, RequestFreedWhileActive) {
  Operation &a = make(world()), &other = make(world());
  for (int round = 0; round < 6; ++round) {
    a.write(static_cast<uint64_t>(round));
    if (round % 2) TIDE_OK(a.init());
    TIDE_OK(round % 2 ? a.start() : a.begin());
    if (world().rank == 0 || round < 4) {  // local: one rank may, the others wait
      TIDE_OK(MPIX_Tide_request_free(&a.request));
      EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, a.request);
    } else {
      TIDE_OK(a.wait());
    }
    for (int call = 0; call < 3; ++call) {
      other.write(static_cast<uint64_t>(call));
      TIDE_OK(other.call());
      other.expect_result("after request_free");
    }
    a.expect_result("freed while active");
    if (a.request != MPIX_TIDE_REQUEST_NULL) TIDE_OK(MPIX_Tide_request_free(&a.request));
  }
}

TEST_P(Lifetime, GroupFreedWhileARequestIsLive) {
  for (int round = 0; round < 4; ++round) {
    Operation& a = make(world());
    MPIX_Tide_group group = a.list.group();
    a.write(1);
    if (round % 2) TIDE_OK(a.init());
    TIDE_OK(round % 2 ? a.start() : a.begin());
    a.list.forget_group();
    TIDE_OK(MPIX_Tide_group_free(&group));
    EXPECT_EQ(MPIX_TIDE_GROUP_NULL, group);
    TIDE_OK(a.wait());
    a.expect_result("group freed while active");
    if (round % 2) {  // and an inactive request still holds its group
      a.write(2);
      TIDE_OK(a.start());
      TIDE_OK(a.wait());
      a.expect_result("restarted without the group's handle");
      TIDE_OK(MPIX_Tide_request_free(&a.request));
    }
  }
  expect_usable(world());
}

TEST_P(Lifetime, CommunicatorFreedFirst) {
  for (int persistent = 0; persistent < 2; ++persistent) {
    Comm comm(dup(MPI_COMM_WORLD));
    Operation& a = make(team_of(comm));
    a.write(1);
    if (persistent) TIDE_OK(a.init());
    TIDE_OK(persistent ? a.start() : a.begin());
    comm.free();
    TIDE_OK(a.wait());
    a.expect_result("communicator freed while active");
    for (int round = 0; persistent && round < 3; ++round) {
      a.write(static_cast<uint64_t>(2 + round));
      TIDE_OK(a.start());
      TIDE_OK(a.wait());
      a.expect_result("communicator freed");
    }
    made_.clear();
  }
}

// A NULL where rank 1's first parameter should stand: all ranks hear of it and nothing hangs.
TEST_P(Lifetime, WrongArgumentsEndTheRequestEverywhere) {
  if (world().size < 2) GTEST_SKIP();
  Operation& a = make(world());
  const MPIX_Tide_group g = a.list.group();
  for (int round = 0; round < 4; ++round) {
    std::vector<void*> out(a.out(), a.out() + a.list.count());
    std::vector<const void*> in(a.in(), a.in() + a.list.count());
    a.write(1);
    if (world().rank == 1) in[0] = nullptr;
    int code = GetParam() == Collective::gather
                   ? MPIX_Tide_iallgather(in.data(), out.data(), g, &a.request)
                   : MPIX_Tide_ireduce_scatter(in.data(), out.data(), MPIX_TIDE_FP32, MPIX_TIDE_SUM,
                                               1.0, g, &a.request);
    if (code == MPI_SUCCESS) code = round % 2 ? a.wait() : a.test_until_over();
    EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, a.request);
    expect_failure_on_all(world(), code, {buffer}, {"rank 1"});
    a.expect_outputs_untouched("refused on all ranks");
    check_nonblocking(a, 5, "after an error");
  }
}

TEST_P(Lifetime, WrongArgumentsOfAPersistentOne) {
  if (world().size < 2) GTEST_SKIP();
  Operation& a = make(world());
  const MPIX_Tide_group g = a.list.group();
  std::vector<const void*> in(a.in(), a.in() + a.list.count());
  if (world().rank == 1) in[0] = nullptr;
  int code = GetParam() == Collective::gather
                 ? MPIX_Tide_allgather_init(in.data(), a.out(), g, MPI_INFO_NULL, &a.request)
                 : MPIX_Tide_reduce_scatter_init(in.data(), a.out(), MPIX_TIDE_FP32, MPIX_TIDE_SUM,
                                                 1.0, g, MPI_INFO_NULL, &a.request);
  const bool made = code == MPI_SUCCESS;
  ASSERT_EQ(made, on_all(world(), made)) << "created on some ranks only";
  for (int round = 0; made && round < 2; ++round) {
    code = a.start();
    if (code == MPI_SUCCESS) code = a.wait();
    EXPECT_NE(MPIX_TIDE_REQUEST_NULL, a.request) << "a persistent one becomes inactive";
    expect_failure_on_all(world(), code, {buffer}, {"rank 1"});
  }
  if (!made) expect_failure_on_all(world(), code, {buffer}, {"rank 1"});
  if (made) TIDE_OK(MPIX_Tide_request_free(&a.request));
  check_nonblocking(a, 5, "after an error");
}

// Waitall completes all, and tells of the one that failed.
TEST_P(Lifetime, WaitallWithOneFailure) {
  if (world().size < 2) GTEST_SKIP();
  Operation &a = make(world()), &b = make(world()), &c = make(world());
  a.write(1), b.write(1), c.write(1);
  TIDE_OK(a.begin());
  std::vector<const void*> in(b.in(), b.in() + b.list.count());
  if (world().rank == 1) in[1] = nullptr;
  const int begun = GetParam() == Collective::gather
                        ? MPIX_Tide_iallgather(in.data(), b.out(), b.list.group(), &b.request)
                        : MPIX_Tide_ireduce_scatter(in.data(), b.out(), MPIX_TIDE_FP32,
                                                    MPIX_TIDE_SUM, 1.0, b.list.group(), &b.request);
  TIDE_OK(c.begin());
  MPIX_Tide_request all[3] = {a.request, b.request, c.request};
  const int code = MPIX_Tide_waitall(3, all);
  expect_failure_on_all(world(), begun == MPI_SUCCESS ? code : begun, {buffer});
  for (MPIX_Tide_request r : all) {
    EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, r);
  }
  a.request = b.request = c.request = MPIX_TIDE_REQUEST_NULL;
  a.expect_result("beside a failure");
  c.expect_result("after a failure");
}

}  // namespace
}  // namespace tide_test
