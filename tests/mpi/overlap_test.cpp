// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Active requests beside everything else that a legal program does meanwhile: blocking calls,
// set-up, MPI's own messages, ranks that come late.
#include <unistd.h>

#include <cstring>

#include "operation.hpp"

namespace tide_test {
namespace {

bool odd() { return world().rank % 2 == 1; }
const int large = 4 << 20;  // bytes: far beyond any eager limit

TEST(Overlap, BlockingCallsWhileRequestsAreActive) {
  const auto all = several(world(), 4);
  for (uint64_t round = 0; round < 6; ++round) {
    for (const auto& a : all) a->write(round);
    TIDE_OK(all[0]->begin());
    TIDE_OK(all[1]->begin());
    // One rank completes first and then calls, the other calls first.
    if (odd()) TIDE_OK(all[0]->wait());
    TIDE_OK(all[2]->call());
    all[2]->expect_result("blocking, behind two active ones");
    TIDE_OK(all[3]->call());
    all[3]->expect_result("blocking, again");
    if (!odd()) TIDE_OK(all[0]->wait());
    TIDE_OK(all[1]->wait());
    all[0]->expect_result("blocking calls meanwhile");
    all[1]->expect_result("blocking calls meanwhile");
  }
}

// Whatever a rank may set up while requests are active, on the same communicator or another.
void set_up(MPI_Comm comm) {
  const MPIX_Tide_param p = param(9, 5);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  MPIX_Tide_topology topology;
  MPI_Comm node = MPI_COMM_NULL;
  void* base = nullptr;
  TIDE_OK(MPIX_Tide_group_create(comm, 1, &p, MPI_INFO_NULL, &group));
  TIDE_OK(MPIX_Tide_alloc(comm, 40000, MPI_INFO_NULL, &base));
  TIDE_OK(MPIX_Tide_comm_topology(comm, &topology));
  TIDE_OK(MPIX_Tide_comm_node(comm, &node));
  if (base) std::memset(base, 1, 40000);
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
  TIDE_OK(MPIX_Tide_group_free(&group));
  if (node != MPI_COMM_NULL) MPI_Comm_free(&node);
}

void set_up_between(MPI_Comm comm, const char* what) {
  const auto three = several(world(), 3);
  for (int round = 0; round < 4; ++round) {
    for (const auto& a : three) a->write(static_cast<uint64_t>(round));
    for (const auto& a : three) TIDE_OK(a->begin());
    const bool wait_first = (world().rank + round) % 2 == 0;
    for (const auto& a : three)
      if (wait_first) TIDE_OK(a->wait());
    set_up(comm);
    for (const auto& a : three) TIDE_OK(a->wait());  // of a null request: succeeds at once
    for (const auto& a : three) a->expect_result(what);
  }
}

TEST(Overlap, SetUpOnTheSameCommunicator) { set_up_between(MPI_COMM_WORLD, "set-up, same"); }

TEST(Overlap, SetUpOnAnotherCommunicator) {
  Comm other(dup(MPI_COMM_WORLD));
  set_up_between(other, "set-up, another");
}

TEST(Overlap, SetUpOnNewCommunicators) {
  const auto two = several(world(), 2);
  for (int round = 0; round < 3; ++round) {
    Comm fresh(split(MPI_COMM_WORLD, 0, round ? -world().rank : world().rank));
    for (const auto& a : two) {
      a->write(static_cast<uint64_t>(round));
      TIDE_OK(a->begin());
    }
    if (odd()) TIDE_OK(two[0]->wait());
    set_up(fresh);  // the first on this communicator
    TIDE_OK(two[1]->wait());
    if (!odd()) TIDE_OK(two[0]->wait());
    for (const auto& a : two) a->expect_result("set-up, new communicator");
  }
}

// A group that comes, is used and goes while another one's request is active.
TEST(Overlap, GroupsComeAndGoMeanwhile) {
  Operation lasting(world(), Collective::reduce, {param(513, 65)});
  for (uint64_t round = 0; round < 5; ++round) {
    lasting.write(round);
    TIDE_OK(lasting.begin());
    if (odd() == (round % 2 == 0)) TIDE_OK(lasting.wait());
    Operation brief(world(), Collective::gather, {param(31, 9)});
    check_nonblocking(brief, round, "brief group");
    MPIX_Tide_group group = brief.list.group();
    brief.list.forget_group();
    TIDE_OK(MPIX_Tide_group_free(&group));
    TIDE_OK(lasting.wait());
    lasting.expect_result("groups come and go");
  }
}

TEST(Overlap, TwoCommunicatorsWaitedInOppositeOrder) {
  Comm x(dup(MPI_COMM_WORLD)), y(dup(MPI_COMM_WORLD));
  for (Memory memory : {Memory::tide, Memory::foreign}) {
    const OperationOptions options{.inputs = memory, .outputs = memory};
    Operation a(team_of(x), Collective::gather, {param(513, 65)}, options);
    Operation b(team_of(y), Collective::reduce, {param(513, 65)}, options);
    for (uint64_t round = 0; round < 8; ++round) {
      a.write(round), b.write(round);
      Operation &first = odd() ? b : a, &second = odd() ? a : b;
      if (round % 2) {  // begun in one order, or in opposite ones: they do not share a communicator
        TIDE_OK(a.begin());
        TIDE_OK(b.begin());
      } else {
        TIDE_OK(first.begin());
        TIDE_OK(second.begin());
      }
      TIDE_OK(first.wait());
      TIDE_OK(second.wait());
      a.expect_result("opposite order");
      b.expect_result("opposite order");
    }
  }
}

// One rank's message cannot complete before its receiver comes, who is in Tide, and the reverse.
TEST(Overlap, SendAroundAWait) {
  if (world().size < 2) GTEST_SKIP();
  const auto two = several(world(), 2);
  std::vector<unsigned char> message(large);
  for (int round = 0; round < 8; ++round) {
    const int sender = round % 2 ? world().size - 1 : 0, receiver = round % 2 ? 0 : 1;
    Operation& a = *two[static_cast<size_t>(round / 2 % 2)];
    const bool begun_first = round >= 4;
    a.write(static_cast<uint64_t>(round));
    MPI_Request sent = MPI_REQUEST_NULL;
    std::memset(message.data(), world().rank == sender ? round + 1 : 0, message.size());
    if (begun_first) TIDE_OK(a.begin());
    if (world().rank == sender)
      MPI_Isend(message.data(), large, MPI_BYTE, receiver, 3, MPI_COMM_WORLD, &sent);
    if (world().rank == receiver)
      MPI_Recv(message.data(), large, MPI_BYTE, sender, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!begun_first) TIDE_OK(a.begin());
    TIDE_OK(a.wait());
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    if (world().rank == receiver) {
      EXPECT_EQ(round + 1, message[large - 1]);
    }
    a.expect_result("a message around the wait");
  }
}

// P17: whoever waits for a late rank has not touched that rank's buffers, however long it polls.
TEST(Overlap, NothingIsTouchedBeforeItsRankHasStarted) {
  for (Memory memory : {Memory::tide, Memory::foreign}) {
    const auto two = several(world(), 2, {.inputs = memory, .outputs = memory});
    for (int late = 0; late < world().size; ++late) {
      for (const auto& a : two) a->write(100 + static_cast<uint64_t>(late));
      const auto salt = static_cast<uint64_t>(late);
      if (world().rank == late) {
        usleep(100000);  // the others have begun and poll
        for (const auto& a : two) a->expect_outputs_untouched("before this rank has started");
        for (const auto& a : two) a->write(salt);  // and nothing has been read yet either
      } else {
        for (const auto& a : two) a->write(salt);
      }
      for (const auto& a : two) {
        TIDE_OK(a->begin());
        int flag = 0;
        TIDE_OK(MPIX_Tide_test(&a->request, &flag));
      }
      for (const auto& a : two) {
        TIDE_OK(a->wait());
        a->expect_result("a late rank");
      }
    }
  }
}

// A persistent request that is started late is as untouched as a new one.
TEST(Overlap, NothingIsTouchedBeforeARestart) {
  Operation a(world(), Collective::gather, {param(64, 33)});
  TIDE_OK(a.init());
  for (int late = 0; late < world().size; ++late) {
    a.write(static_cast<uint64_t>(late));
    if (world().rank == late) {
      usleep(100000);
      a.expect_outputs_untouched("before the restart");
    }
    TIDE_OK(a.start());
    TIDE_OK(a.wait());
    a.expect_result("restarted late");
  }
}

}  // namespace
}  // namespace tide_test
