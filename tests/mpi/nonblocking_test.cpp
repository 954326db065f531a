// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Several operations on their way at once, on one communicator and on several, completed in any
// order, which may differ from rank to rank.
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "operation.hpp"

namespace tide_test {
namespace {

using Operations = std::vector<std::unique_ptr<Operation>>;

void write_all(const Operations& all, uint64_t salt) {
  for (size_t i = 0; i < all.size(); ++i) all[i]->write(salt + i);
}
void begin_all(const Operations& all) {
  for (const auto& a : all) TIDE_OK(a->begin());
}

TEST(InFlight, TwoWaitedInBothOrders) {
  const Operations two = several(world(), 2);
  for (int round = 0; round < 8; ++round) {
    write_all(two, static_cast<uint64_t>(round));
    begin_all(two);
    const auto first = static_cast<size_t>((round / 2 + world().rank * (round % 2)) % 2);
    TIDE_OK(two[first]->wait());
    two[first]->expect_result("first of two");
    TIDE_OK(two[1 - first]->wait());
    two[1 - first]->expect_result("second of two");
  }
}

TEST(InFlight, ThreeInAllOrdersThatDifferByRank) {
  const Operations three = several(world(), 3);
  std::vector<std::vector<size_t>> orders;
  std::vector<size_t> order = {0, 1, 2};
  do orders.push_back(order);
  while (std::next_permutation(order.begin(), order.end()));
  for (size_t shift = 0; shift < 2; ++shift) {
    for (size_t k = 0; k < orders.size(); ++k) {
      write_all(three, 10 * k);
      begin_all(three);
      const size_t mine = k + shift * static_cast<size_t>(world().rank);
      for (size_t i : orders[mine % orders.size()]) {
        TIDE_OK(three[i]->wait());
        three[i]->expect_result("three in any order");
      }
    }
  }
}

TEST(InFlight, FiveInRandomOrder) {
  const Operations five = several(world(), 5);
  std::mt19937 mine(static_cast<unsigned>(17 + world().rank)), common(5);
  std::vector<size_t> starts(5), ends(5);
  std::iota(starts.begin(), starts.end(), 0);
  ends = starts;
  for (int round = 0; round < 20 && !testing::Test::HasFailure(); ++round) {
    write_all(five, static_cast<uint64_t>(round));
    std::shuffle(starts.begin(), starts.end(), common);  // the same on all ranks
    std::shuffle(ends.begin(), ends.end(), mine);
    for (size_t i : starts) {
      TIDE_OK(five[i]->begin());
      if (mine() % 3 == 0) usleep(static_cast<useconds_t>(mine() % 2000));
    }
    for (size_t i : ends) {
      if (mine() % 4 == 0) TIDE_OK(MPIX_Tide_wait_inputs(&five[i]->request));
      TIDE_OK(mine() % 2 ? five[i]->wait() : five[i]->test_until_over());
      five[i]->expect_result("five in random order");
    }
  }
}

TEST(InFlight, TestallOfFivePersistentOnes) {
  const Operations five = several(world(), 5);
  std::vector<MPIX_Tide_request> requests;
  for (const auto& a : five) {
    TIDE_OK(a->init());
    requests.push_back(a->request);
  }
  for (int round = 0; round < 10; ++round) {
    write_all(five, static_cast<uint64_t>(round));
    TIDE_OK(MPIX_Tide_startall(5, requests.data()));
    for (int flag = 0; !flag;) {
      const int code = MPIX_Tide_testall(5, requests.data(), &flag);
      TIDE_OK(code);
      if (code != MPI_SUCCESS) break;
    }
    for (const auto& a : five) a->expect_result("testall");
  }
}

TEST(InFlight, AllKindsOfMemory) {
  for (Memory memory : {Memory::foreign, Memory::by_rank, Memory::by_param, Memory::scattered}) {
    const Operations four = several(world(), 4, {.inputs = memory, .outputs = memory});
    for (int round = 0; round < 2; ++round) {
      write_all(four, static_cast<uint64_t>(round));
      begin_all(four);
      for (size_t i = 0; i < 4; ++i)
        TIDE_OK(four[(i + static_cast<size_t>(world().rank)) % 4]->wait());
      for (const auto& a : four) a->expect_result(name_of(memory));
    }
  }
}

TEST(InFlight, InPlaceAndNodeShared) {
  const auto params = std::vector<MPIX_Tide_param>{param(64, 33), param(5, 3), param(0, 2)};
  Operation in_place(world(), Collective::gather, params, {.in_place = true});
  Operation sums(world(), Collective::reduce, params);
  List list(world(), params);
  Pieces shards(world(), Memory::tide, list.shard_bytes());
  Info node{{"tide_share", "node"}};
  std::vector<void*> shared(list.count());
  void* base = nullptr;
  TIDE_OK(MPIX_Tide_group_alloc(list.group(), MPIX_TIDE_FULL, 0, node, shared.data(), &base));
  for (uint64_t salt = 0; salt < 4; ++salt) {
    MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
    in_place.write(salt);
    sums.write(salt);
    write_shards(list, shards.list(), salt);
    TIDE_OK(in_place.begin());
    TIDE_OK(MPIX_Tide_iallgather(MPIX_TIDE_INPUTS(shards.list()), shared.data(), list.group(),
                                 &request));
    TIDE_OK(sums.begin());
    TIDE_OK(MPIX_Tide_wait(&request));
    expect_gathered(list, shared.data(), salt, "node-shared");
    TIDE_OK(sums.wait());
    TIDE_OK(in_place.wait());
    in_place.expect_result("in place");
    sums.expect_result("beside node-shared");
    sync(world());  // the shared pages are read by all before anybody starts the next round
  }
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
}

TEST(InFlight, SeveralCommunicators) {
  Comm copy(dup(MPI_COMM_WORLD)), reversed(split(MPI_COMM_WORLD, 0, -world().rank)),
      half(split(MPI_COMM_WORLD, world().rank % 2, 0));
  std::vector<Operations> all;
  for (MPI_Comm comm : {static_cast<MPI_Comm>(copy), static_cast<MPI_Comm>(reversed),
                        static_cast<MPI_Comm>(half), MPI_COMM_SELF})
    all.push_back(several(team_of(comm), 3));
  std::mt19937 mine(static_cast<unsigned>(3 + world().rank));
  for (int round = 0; round < 6; ++round) {
    std::vector<Operation*> ends;
    for (const Operations& some : all) {
      write_all(some, static_cast<uint64_t>(round));
      for (const auto& a : some) ends.push_back(a.get());
    }
    std::vector<size_t> turn(all.size());  // whose start comes first differs between ranks
    std::iota(turn.begin(), turn.end(), 0);
    std::shuffle(turn.begin(), turn.end(), mine);
    for (size_t i = 0; i < 3; ++i)
      for (size_t t : turn) TIDE_OK(all[t][i]->begin());
    std::shuffle(ends.begin(), ends.end(), mine);
    for (Operation* a : ends) {
      TIDE_OK(a->wait());
      a->expect_result("several communicators");
    }
  }
}

// 1,000 starts with ranks out of step, at most three in flight, in a ring of five groups.
TEST(InFlight, SkewedArrivals) {
  const int calls = world().size == 5 ? 1000 : 200;
  const Operations five = several(world(), 5);
  std::mt19937 mine(static_cast<unsigned>(1 + world().rank));
  for (int call = 0; call < calls + 2 && !testing::Test::HasFailure(); ++call) {
    if (call < calls) {
      Operation& next = *five[static_cast<size_t>(call) % 5];
      next.write(static_cast<uint64_t>(call));
      usleep(static_cast<useconds_t>(mine() % 5000));
      TIDE_OK(next.begin());
    }
    if (call < 2) continue;
    Operation& last = *five[static_cast<size_t>(call - 2) % 5];
    TIDE_OK(last.wait());
    last.expect_result("skewed arrivals");
    last.spoil_inputs();  // they are this rank's own again
  }
}

}  // namespace
}  // namespace tide_test
