// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Legal programs that hang where a blocking call does not let MPI get on, and back-to-back calls
// with ranks out of step. Two or more ranks.
#include <unistd.h>

#include <chrono>
#include <memory>
#include <random>

#include "list.hpp"

namespace tide_test {
namespace {

const int large = 4 << 20;  // bytes: far beyond any eager limit

// Rank 0 sends a message that cannot complete before its receiver comes, then calls Tide; rank 1
// receives first.
template <class Collective>
void send_around(int sender, int receiver, Collective collective) {
  std::vector<unsigned char> message(large, static_cast<unsigned char>(sender + 1));
  if (world().rank == sender) {
    MPI_Request request;
    MPI_Isend(message.data(), large, MPI_BYTE, receiver, 3, MPI_COMM_WORLD, &request);
    collective();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (world().rank == receiver) {
    std::fill(message.begin(), message.end(), 0);
    MPI_Recv(message.data(), large, MPI_BYTE, sender, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(sender + 1, message[0]);
    EXPECT_EQ(sender + 1, message[large - 1]);
    collective();
  } else {
    collective();
  }
}

TEST(Progress, SendThenAllgatherAgainstReceiveFirst) {
  List list(world(), {param(64, 33), param(5, 3)});
  for (Memory memory : {Memory::tide, Memory::foreign}) {
    Pieces shards(world(), memory, list.shard_bytes()), full(world(), memory, list.full_bytes());
    write_shards(list, shards.list(), 1);
    const auto gather = [&] {
      TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), full.list(), list.group()));
    };
    for (int round = 0; round < 4; ++round) {
      send_around(0, 1, gather);
      send_around(world().size - 1, 0, gather);
    }
    expect_gathered(list, full.list(), 1, "progress");
  }
}

TEST(Progress, SendThenReduceScatterAgainstReceiveFirst) {
  List list(world(), {param(64, 33), param(5, 3)});
  const ReduceOptions options{.out_dtype = MPIX_TIDE_FP32, .pattern = rough};
  for (Memory memory : {Memory::tide, Memory::foreign}) {
    Pieces grads(world(), memory, list.grad_bytes()),
        sums(world(), memory, list.out_bytes(MPIX_TIDE_FP32));
    write_grads(list, grads.list(), options);
    const auto reduce = [&] {
      TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.list()), sums.list(), MPIX_TIDE_FP32,
                                       MPIX_TIDE_SUM, 1.0, list.group()));
    };
    for (int round = 0; round < 4; ++round) {
      send_around(1, 0, reduce);
      send_around(0, world().size - 1, reduce);
    }
    expect_reduced(list, sums.list(), options, "progress");
  }
}

// The receiver has left MPI for Tide while the sender still waits inside MPI: the same the other
// way round.
TEST(Progress, ReceivePostedThenTideAgainstBlockingSend) {
  List list(world(), {param(64, 33)});
  Pieces shards(world(), Memory::tide, list.shard_bytes()),
      full(world(), Memory::tide, list.full_bytes());
  write_shards(list, shards.list(), 1);
  std::vector<unsigned char> message(large, 9);
  for (int round = 0; round < 4; ++round) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (world().rank == 0)
      MPI_Irecv(message.data(), large, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &request);
    if (world().rank == 1) MPI_Send(message.data(), large, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
    TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), full.list(), list.group()));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  expect_gathered(list, full.list(), 1, "progress");
}

// V26: a fast peer must not reuse what a slow one still needs.
TEST(Skew, BackToBackCallsOfTwoSizes) {
  const int calls = world().size == 5 ? 1000 : 200;
  List small(world(), {param(1, 3)}), big(world(), {param(513, 65)});
  const ReduceOptions options{.out_dtype = MPIX_TIDE_FP32};
  std::vector<std::unique_ptr<Pieces>> grads, sums, shards, full;
  for (const List* list : {&small, &big}) {
    grads.push_back(std::make_unique<Pieces>(world(), Memory::tide, list->grad_bytes()));
    sums.push_back(
        std::make_unique<Pieces>(world(), Memory::tide, list->out_bytes(MPIX_TIDE_FP32)));
    shards.push_back(std::make_unique<Pieces>(world(), Memory::tide, list->shard_bytes()));
    full.push_back(std::make_unique<Pieces>(world(), Memory::tide, list->full_bytes()));
    write_grads(*list, grads.back()->list(), options);
  }
  std::mt19937 random(static_cast<unsigned>(1 + world().rank));
  const auto start = std::chrono::steady_clock::now();
  for (int call = 0; call < calls && !testing::Test::HasFailure(); ++call) {
    const auto which = static_cast<size_t>(call % 2);
    const List& list = which ? big : small;
    usleep(random() % 5000);
    if (call % 4 < 2) {
      sums[which]->fill(0xFF);
      TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads[which]->list()), sums[which]->list(),
                                       MPIX_TIDE_FP32, MPIX_TIDE_SUM, 1.0, list.group()));
      // The gradients are this rank's own again: spoil them, and put them right before the next
      // call.
      grads[which]->fill(0xFF);
      expect_reduced(list, sums[which]->list(), options, "skew");
      write_grads(list, grads[which]->list(), options);
    } else {
      const auto salt = static_cast<uint64_t>(call);
      write_shards(list, shards[which]->list(), salt);
      TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards[which]->list()), full[which]->list(),
                                  list.group()));
      shards[which]->fill(0xFF);
      expect_gathered(list, full[which]->list(), salt, "skew");
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 35.0) << "seconds for " << calls << " calls";
}

}  // namespace
}  // namespace tide_test
