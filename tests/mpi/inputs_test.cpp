// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// wait_inputs and test_inputs: from their success on the inputs are the caller's again, whatever
// the operation still has to do.  On several nodes the rail is slowed down, so that the end of the
// inputs and the end of the operation lie far apart.
#include <sched.h>

#include <cstdio>

#include "operation.hpp"
#include "slow_rail.hpp"

namespace tide_test {
namespace {

int test_inputs_until_over(Operation& a) {
  for (;;) {
    int flag = 0;
    const int code = MPIX_Tide_test_inputs(&a.request, &flag);
    if (code != MPI_SUCCESS || flag) return code;
    sched_yield();
  }
}

TEST(Inputs, SpoiledOrFreedAtOnce) {
  for (Memory memory : {Memory::tide, Memory::foreign, Memory::scattered}) {
    for (int round = 0; round < 6; ++round) {
      const auto all =
          several(world(), 5, {.inputs = memory, .outputs = memory});  // three of them queued
      for (const auto& a : all) a->write(static_cast<uint64_t>(round));
      for (const auto& a : all) TIDE_OK(a->begin());
      for (size_t k = 0; k < all.size(); ++k) {
        Operation& a = *all[(k + static_cast<size_t>(world().rank)) % all.size()];
        TIDE_OK(round % 2 ? test_inputs_until_over(a) : MPIX_Tide_wait_inputs(&a.request));
        EXPECT_NE(MPIX_TIDE_REQUEST_NULL, a.request) << "wait_inputs does not end a request";
        if (round < 4)
          a.spoil_inputs();
        else
          a.drop_inputs();
      }
      for (const auto& a : all) {
        TIDE_OK(a->wait());
        a->expect_result("inputs spoiled after wait_inputs");
      }
    }
  }
}

TEST(Inputs, PersistentOnesAsWell) {
  const auto two = several(world(), 2);
  for (const auto& a : two) TIDE_OK(a->init());
  for (uint64_t round = 0; round < 10; ++round) {
    for (const auto& a : two) {
      a->write(round);
      TIDE_OK(a->start());
    }
    for (const auto& a : two) {
      TIDE_OK(MPIX_Tide_wait_inputs(&a->request));
      a->spoil_inputs();
      TIDE_OK(MPIX_Tide_wait_inputs(&a->request));  // again: over already
    }
    for (const auto& a : two) {
      TIDE_OK(a->wait());
      a->expect_result("persistent, inputs spoiled");
    }
  }
}

class SlowRail : public testing::Test {
 protected:
  void SetUp() override {
    if (world().members.size() < 2) GTEST_SKIP() << "several nodes only";
  }
  void TearDown() override { slow_rail(0); }

  struct Seen {
    double inputs_s, all_s;
    size_t held_after_inputs;
    int over_after_inputs;
  };
  // fp32 gradients: a node's partial sums are less to send than the gradients themselves.
  Seen run(MPI_Info info, Memory memory, MPI_Count rows = 512) {
    Operation a(world(), Collective::reduce, {param(rows, 1024, MPIX_TIDE_FP32), param(5, 3)},
                {.inputs = memory, .outputs = memory}, info);
    a.write(3);
    sync(world());
    slow_rail(2 << 20);
    Seen seen{};
    const double begun_s = now_s();
    TIDE_OK(a.begin());
    TIDE_OK(MPIX_Tide_wait_inputs(&a.request));
    seen.inputs_s = now_s() - begun_s;
    seen.held_after_inputs = rail_messages_held();
    a.spoil_inputs();
    TIDE_OK(MPIX_Tide_test(&a.request, &seen.over_after_inputs));
    if (memory == Memory::foreign) a.drop_inputs();
    TIDE_OK(a.wait());
    seen.all_s = now_s() - begun_s;
    EXPECT_EQ(0u, rail_messages_held()) << "a request is over when its sends are";
    slow_rail(0);
    a.expect_result("slow rail");
    return seen;
  }
  void show(const char* workspace, const Seen& seen) {
    std::printf("rank %d, %s workspace: inputs free after %.3f s, over after %.3f s; %zu held\n",
                world().rank, workspace, seen.inputs_s, seen.all_s, seen.held_after_inputs);
  }
};

TEST_F(SlowRail, LargeWorkspaceFreesInputsWhilePutsAreOnTheirWay) {
  Info large{{"tide_workspace_bytes", std::to_string(64 << 20)}};
  for (Memory memory : {Memory::tide, Memory::foreign}) {
    const size_t before = rail_messages_seen();
    const Seen seen = run(large, memory);
    show("large", seen);
    if (rail_messages_seen() == before) continue;  // no carrier: nothing of its own to send
    EXPECT_GT(seen.held_after_inputs, 0u) << "inputs were over only after the last put";
    EXPECT_EQ(0, seen.over_after_inputs) << "over with puts still to complete";
  }
}

TEST_F(SlowRail, SmallWorkspaceIsAsRight) {
  const MPI_Count rows = 32;  // the smallest workspace moves them in many small steps
  Operation probe(world(), Collective::reduce, {param(rows, 1024, MPIX_TIDE_FP32), param(5, 3)});
  MPIX_Tide_sizes sizes;
  TIDE_OK(MPIX_Tide_group_sizes(probe.list.group(), &sizes));
  long long mine = sizes.reduce_scatter_workspace_min_bytes, most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_LONG_LONG, MPI_MAX, world().comm);
  Info small{{"tide_workspace_bytes", std::to_string(most)}};
  for (Memory memory : {Memory::tide, Memory::foreign}) show("small", run(small, memory, rows));
}

TEST_F(SlowRail, SeveralInFlight) {
  const auto all = several(world(), 5);
  slow_rail(4 << 20);
  for (uint64_t round = 0; round < 3; ++round) {
    for (const auto& a : all) a->write(round);
    for (const auto& a : all) TIDE_OK(a->begin());
    for (size_t k = 0; k < all.size(); ++k) {
      Operation& a = *all[(k * 2 + static_cast<size_t>(world().rank)) % all.size()];
      TIDE_OK(MPIX_Tide_wait_inputs(&a.request));
      a.spoil_inputs();
      TIDE_OK(a.wait());
      a.expect_result("several on a slow rail");
    }
  }
}

}  // namespace
}  // namespace tide_test
