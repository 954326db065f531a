// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// All-reduce of shards over replicas, against the definition.  Any ranks, any map: replicas of the
// divisors of the rank count.
#include <cmath>
#include <cstring>
#include <limits>

#include "list.hpp"

namespace tide_test {
namespace {

struct Grid {
  explicit Grid(int shard_size) {
    TIDE_OK(MPIX_Tide_comm_grid(MPI_COMM_WORLD, shard_size, &shard, &replica));
    MPI_Comm_set_errhandler(shard, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(replica, MPI_ERRORS_RETURN);
  }
  ~Grid() {
    MPI_Comm_free(&shard);
    if (replica != MPI_COMM_NULL) MPI_Comm_free(&replica);
  }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  MPI_Comm shard = MPI_COMM_NULL, replica = MPI_COMM_NULL;
};

std::vector<int> shard_sizes() {
  std::vector<int> sizes;
  for (int s = 1; s <= world().size; s++)
    if (world().size % s == 0) sizes.push_back(s);
  return sizes;
}

const int frozen = types_of(MPIX_TIDE_FP32, MPIX_TIDE_NOGRAD);

std::vector<MPIX_Tide_param> mixed_list() {
  return {param(7, 3, MPIX_TIDE_FP32), param(0, 5, MPIX_TIDE_FP32), param(1, 1, MPIX_TIDE_FP32),
          param(5, 2, MPIX_TIDE_FP32, frozen), param(300, 11, MPIX_TIDE_FP32)};
}

std::vector<size_t> bytes_as(const List& list, int dtype) {
  std::vector<size_t> bytes;
  for (size_t p = 0; p < list.count(); p++)
    bytes.push_back(list.shard_elems(p) * size_of(dtype ? dtype : shard_dtype(list.params()[p])));
  return bytes;
}

// Shards, what they must become, and the comparison.
class Case {
 public:
  Case(const List& list, const Team& replica, Memory memory, int dtype, int op, double scale)
      : list_(list),
        replica_(replica),
        dtype_(dtype),
        op_(op),
        scale_(scale),
        shards(world(), memory, bytes_as(list, dtype)) {}

  int type(size_t p) const { return dtype_ ? dtype_ : shard_dtype(list_.params()[p]); }
  void write(int salt, Pattern pattern = rough) {
    salt_ = salt;
    pattern_ = pattern;
    for (size_t p = 0; p < list_.count(); p++)
      for (size_t i = 0; i < list_.shard_elems(p); i++)
        store(type(p), at(p, i), value(replica_.rank, p, i));
  }
  void check(const char* what) const {
    shards.expect_margins(what);
    // Additions in the order of the ranks of replica, on any map.
    Team flat = replica_;
    for (size_t p = 0; p < list_.count(); p++) {
      for (size_t i = 0; i < list_.shard_elems(p); i++) {
        double want[1], kept[1];
        store(type(p), kept, value(replica_.rank, p, i));
        std::memcpy(want, kept, size_of(type(p)));
        if (!list_.frozen(p)) {
          std::vector<double> x;
          for (int r = 0; r < replica_.size; r++) {
            double rounded[1];
            store(type(p), rounded, value(r, p, i));
            x.push_back(load(type(p), rounded));
          }
          const Arithmetic arithmetic{op_, scale_, false, true};
          store(type(p), want, reduce(flat, x, arithmetic, 0, sums_in_double(type(p), type(p))));
        }
        ASSERT_TRUE(same_value(type(p), want, at(p, i)))
            << what << ": parameter " << p << " element " << i << ": " << show(type(p), at(p, i))
            << ", expected " << show(type(p), want);
      }
    }
  }
  char* at(size_t p, size_t i) const {
    return static_cast<char*>(shards[p]) + i * size_of(type(p));
  }

 private:
  double value(int r, size_t p, size_t i) const {
    return pattern_(r + salt_, static_cast<int>(p), i + 1000 * list_.team().rank);
  }
  const List& list_;
  const Team& replica_;
  int dtype_, op_, salt_ = 0;
  double scale_;
  Pattern pattern_ = rough;

 public:
  Pieces shards;
};

TEST(ReplicaSum, AgainstTheDefinition) {
  for (int size : shard_sizes()) {
    const Grid grid(size);
    const Team replica = team_of(grid.replica);
    List list(team_of(grid.shard), mixed_list());
    for (int dtype : {0, int{MPIX_TIDE_BF16}, int{MPIX_TIDE_FP16}, int{MPIX_TIDE_FP64}})
      for (int op : {int{MPIX_TIDE_SUM}, int{MPIX_TIDE_AVG}}) {
        Case c(list, replica, dtype ? Memory::tide : Memory::scattered, dtype, op, 0.75);
        for (int round = 0; round < 2; round++) {
          c.write(round);
          TIDE_OK(MPIX_Tide_replica_allreduce(c.shards.list(), dtype, op, 0.75, list.group(),
                                              grid.replica));
          c.check("replica_allreduce");
        }
      }
  }
}

TEST(ReplicaSum, RaggedShardsOfMixedTypes) {
  const Grid grid(shard_sizes().back() == 1 ? 1 : shard_sizes()[shard_sizes().size() - 2]);
  const Team shard = team_of(grid.shard), replica = team_of(grid.replica);
  std::vector<MPI_Count> first;
  for (MPI_Count rows : {9, 4}) {
    first.push_back(0);
    for (int r = 1; r < shard.size; r++) first.push_back(rows);  // all on the first rank
    first.push_back(rows);
  }
  List list(shard,
            {param(9, 4, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16)),
             param(4, 1, MPIX_TIDE_FP64)},
            MPI_INFO_NULL, first);
  Case c(list, replica, Memory::foreign, 0, MPIX_TIDE_AVG, 1.0);
  c.write(3);
  TIDE_OK(MPIX_Tide_replica_allreduce(c.shards.list(), 0, MPIX_TIDE_AVG, 1.0, list.group(),
                                      grid.replica));
  c.check("ragged");
}

// Several at a time, in flight together with all-gathers of the same groups.
TEST(ReplicaSum, NonblockingOverlapsAndKeepsItsOrder) {
  const Grid grid(shard_sizes()[shard_sizes().size() / 2]);
  const Team shard = team_of(grid.shard), replica = team_of(grid.replica);
  constexpr int layers = 4;
  std::vector<std::unique_ptr<List>> lists;
  std::vector<std::unique_ptr<Case>> cases;
  std::vector<std::unique_ptr<Pieces>> full, own;
  for (int l = 0; l < layers; l++) {
    lists.push_back(std::make_unique<List>(shard, mixed_list()));
    cases.push_back(
        std::make_unique<Case>(*lists[l], replica, Memory::tide, 0, MPIX_TIDE_AVG, 1.0));
    full.push_back(std::make_unique<Pieces>(shard, Memory::tide, lists[l]->full_bytes()));
    own.push_back(std::make_unique<Pieces>(shard, Memory::tide, lists[l]->shard_bytes()));
  }
  for (int step = 0; step < 3; step++) {
    MPIX_Tide_request sums[layers], gathers[layers];
    for (int l = 0; l < layers; l++) {
      cases[l]->write(10 * step + l);
      write_shards(*lists[l], own[l]->list(), static_cast<uint64_t>(step));
      TIDE_OK(MPIX_Tide_ireplica_allreduce(cases[l]->shards.list(), 0, MPIX_TIDE_AVG, 1.0,
                                           lists[l]->group(), grid.replica, &sums[l]));
      TIDE_OK(MPIX_Tide_iallgather(MPIX_TIDE_INPUTS(own[l]->list()), full[l]->list(),
                                   lists[l]->group(), &gathers[l]));
    }
    TIDE_OK(MPIX_Tide_waitall(layers, gathers));
    if (world().rank % 2) std::swap(sums[0], sums[layers - 1]);  // completing is local
    TIDE_OK(MPIX_Tide_wait_inputs(&sums[1]));
    cases[world().rank % 2 ? 1 : 1]->check("its inputs are its outputs");
    int flag = 0;
    while (!flag) TIDE_OK(MPIX_Tide_testall(layers, sums, &flag));
    for (int l = 0; l < layers; l++) {
      EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, sums[l]);
      cases[l]->check("ireplica_allreduce");
      expect_gathered(*lists[l], full[l]->list(), static_cast<uint64_t>(step), "all-gather");
    }
  }
}

TEST(ReplicaSum, GroupAndCommunicatorMayGoFirst) {
  Grid grid(1);
  const Team replica = team_of(grid.replica);
  auto list = std::make_unique<List>(team_of(grid.shard), mixed_list());
  Case c(*list, replica, Memory::tide, 0, MPIX_TIDE_SUM, 1.0);
  c.write(1);
  MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL, freed = MPIX_TIDE_REQUEST_NULL;
  TIDE_OK(MPIX_Tide_ireplica_allreduce(c.shards.list(), 0, MPIX_TIDE_SUM, 1.0, list->group(),
                                       grid.replica, &request));
  Case d(*list, replica, Memory::tide, MPIX_TIDE_FP64, MPIX_TIDE_SUM, 1.0);
  d.write(2);
  TIDE_OK(MPIX_Tide_ireplica_allreduce(d.shards.list(), MPIX_TIDE_FP64, MPIX_TIDE_SUM, 1.0,
                                       list->group(), grid.replica, &freed));
  MPIX_Tide_group group = list->group();
  TIDE_OK(MPIX_Tide_group_free(&group));
  list->forget_group();
  MPI_Comm_free(&grid.replica);
  TIDE_OK(MPIX_Tide_request_free(&freed));  // goes on without its handle
  TIDE_OK(MPIX_Tide_wait(&request));
  c.check("freed before its end");
  sync(world());
  expect_usable(world());
}

TEST(ReplicaSum, NanAndInfStayInTheirElement) {
  const Grid grid(1);
  List list(team_of(grid.shard), {param(4, 1, MPIX_TIDE_FP32)});
  Pieces shards(world(), Memory::tide, list.shard_bytes());
  auto* x = static_cast<float*>(shards[0]);
  x[0] = world().rank ? 1.0F : std::numeric_limits<float>::quiet_NaN();
  x[1] = std::numeric_limits<float>::infinity();
  x[2] = -0.0F;
  x[3] = 2.0F;
  TIDE_OK(MPIX_Tide_replica_allreduce(shards.list(), 0, MPIX_TIDE_SUM, 1.0, list.group(),
                                      grid.replica));
  EXPECT_TRUE(std::isnan(x[0]));
  EXPECT_TRUE(std::isinf(x[1]));
  EXPECT_TRUE(x[2] == 0 && std::signbit(x[2]));
  EXPECT_EQ(2.0F * static_cast<float>(world().size), x[3]);
}

bool culprit() { return world().rank == world().size - 1; }

TEST(ReplicaSumErrors, WrongArgumentsFailOnAllReplicas) {
  const Grid grid(1);
  const Team replica = team_of(grid.replica);
  List list(team_of(grid.shard), {param(6, 2, MPIX_TIDE_FP32), param(3, 1, MPIX_TIDE_FP32)});
  Case c(list, replica, Memory::tide, 0, MPIX_TIDE_SUM, 1.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // Before the pair of groups is made, and after: then the others are in the operation already.
  for (int round = 0; round < 2; round++) {
    const auto refused = [&](auto call, std::initializer_list<Failure> allowed,
                             std::initializer_list<std::string> words = {}) {
      expect_failure_on_all(world(), call(true), allowed, words);
      expect_failure_on_all(world(), call(culprit()), allowed);
      MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
      c.write(5);
      TIDE_OK(MPIX_Tide_ireplica_allreduce(c.shards.list(), 0, MPIX_TIDE_SUM, 1.0, list.group(),
                                           grid.replica, &request));
      TIDE_OK(MPIX_Tide_wait(&request));
      c.check("after an error");
    };
    const auto call = [&](void* const* shards, int dtype, int op, double scale) {
      return MPIX_Tide_replica_allreduce(shards, dtype, op, scale, list.group(), grid.replica);
    };
    void* const* good = c.shards.list();
    if (round == 0) expect_failure_on_all(world(), call(nullptr, 0, MPIX_TIDE_SUM, 1.0), {buffer});
    refused([&](bool w) { return call(good, 0, w ? 0 : MPIX_TIDE_SUM, 1.0); }, {arg}, {"op"});
    refused(
        [&](bool w) { return call(good, 0, MPIX_TIDE_SUM | (w ? MPIX_TIDE_ACCUMULATE : 0), 1.0); },
        {arg}, {"flags"});
    refused([&](bool w) { return call(good, w ? 99 : 0, MPIX_TIDE_SUM, 1.0); }, {arg}, {"dtype"});
    refused([&](bool w) { return call(good, w ? int{MPIX_TIDE_UINT8} : 0, MPIX_TIDE_SUM, 1.0); },
            {arg}, {"dtype"});
    refused([&](bool w) { return call(good, 0, MPIX_TIDE_SUM, w ? nan : 1.0); }, {arg}, {"scale"});
    refused([&](bool w) { return call(good, 0, MPIX_TIDE_SUM, w ? HUGE_VAL : 1.0); }, {arg},
            {"scale", "finite"});
    refused([&](bool w) { return call(w ? nullptr : good, 0, MPIX_TIDE_SUM, 1.0); }, {buffer});
    refused(
        [&](bool w) {
          void* list_with_null[2] = {good[0], w ? nullptr : good[1]};
          return call(list_with_null, 0, MPIX_TIDE_SUM, 1.0);
        },
        {buffer}, {"parameter 1", "NULL"});
    refused(
        [&](bool w) {
          void* unaligned[2] = {static_cast<char*>(good[0]) + (w ? 1 : 0), good[1]};
          return call(unaligned, 0, MPIX_TIDE_SUM, 1.0);
        },
        {buffer}, {"parameter 0", "aligned"});
    refused(
        [&](bool w) {
          void* overlapping[2] = {good[0], w ? good[0] : good[1]};
          return call(overlapping, 0, MPIX_TIDE_SUM, 1.0);
        },
        {buffer}, {"overlap"});
  }
}

TEST(ReplicaSumErrors, DifferentCallsAreAMismatchOnAll) {
  if (world().size == 1) GTEST_SKIP() << "for several ranks";
  const Grid grid(1);
  const Team replica = team_of(grid.replica);
  List list(team_of(grid.shard), {param(6, 2, MPIX_TIDE_FP32)});
  List other(team_of(grid.shard), {param(6, 2, MPIX_TIDE_FP32)});
  List longer(team_of(grid.shard), {param(culprit() ? 7 : 6, 2, MPIX_TIDE_FP32)});
  Case c(list, replica, Memory::tide, 0, MPIX_TIDE_SUM, 1.0);
  const auto call = [&](const List& of, int dtype, int op, double scale) {
    MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
    const int code = MPIX_Tide_ireplica_allreduce(c.shards.list(), dtype, op, scale, of.group(),
                                                  grid.replica, &request);
    return code == MPI_SUCCESS ? MPIX_Tide_wait(&request) : code;
  };
  for (int round = 0; round < 2; round++) {
    expect_failure_on_all(world(), call(list, 0, culprit() ? MPIX_TIDE_AVG : MPIX_TIDE_SUM, 1.0),
                          {mismatch}, {"op"});
    expect_failure_on_all(world(), call(list, 0, MPIX_TIDE_SUM, culprit() ? 2.0 : 1.0), {mismatch},
                          {"scale"});
    expect_failure_on_all(
        world(), call(list, culprit() ? int{MPIX_TIDE_FP64} : 0, MPIX_TIDE_SUM, 1.0), {mismatch});
    c.write(round);
    TIDE_OK(call(list, 0, MPIX_TIDE_SUM, 1.0));  // from here on one group is known, one is not
    c.check("after an error");
    if (round == 0)
      expect_failure_on_all(world(), call(culprit() ? other : list, 0, MPIX_TIDE_SUM, 1.0),
                            {mismatch});
    expect_failure_on_all(world(), call(longer, 0, MPIX_TIDE_SUM, 1.0), {mismatch}, {"rows"});
    c.write(round + 20);
    TIDE_OK(call(other, 0, MPIX_TIDE_SUM, 1.0));
    c.check("the other group");
  }
}

// As many rows on every replica, but others: sums of parameters that are not the same.
TEST(ReplicaSumErrors, OtherRowsOfEqualCount) {
  if (world().size == 1) GTEST_SKIP() << "for several ranks";
  List list(world(), {param(4 * world().size, 2, MPIX_TIDE_FP32)});
  Pieces rows(world(), Memory::tide, list.shard_bytes());
  rows.fill(0);
  expect_failure_on_all(
      world(),
      MPIX_Tide_replica_allreduce(rows.list(), 0, MPIX_TIDE_SUM, 1.0, list.group(), MPI_COMM_WORLD),
      {mismatch},
      {"rank 1", "parameter 0", "first row is 4 but 0 on rank 0", "MPIX_Tide_comm_grid"});
  expect_usable(world());
}

TEST(ReplicaSumErrors, LocalOnes) {
  const Grid grid(1);
  List list(team_of(grid.shard), {param(6, 2, MPIX_TIDE_FP32)});
  const Team replica = team_of(grid.replica);
  Case c(list, replica, Memory::tide, 0, MPIX_TIDE_SUM, 1.0);
  c.write(1);
  MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL, second = MPIX_TIDE_REQUEST_NULL;
  const auto call = [&](MPIX_Tide_group group, MPI_Comm replica, MPIX_Tide_request* r) {
    return MPIX_Tide_ireplica_allreduce(c.shards.list(), 0, MPIX_TIDE_SUM, 1.0, group, replica, r);
  };
  expect_failure(call(MPIX_TIDE_GROUP_NULL, grid.replica, &request), {arg}, {"group"});
  expect_failure(call(list.group(), MPI_COMM_NULL, &request), {comm_class});
  expect_failure(call(list.group(), grid.replica, nullptr), {arg}, {"request"});
  TIDE_OK(call(list.group(), grid.replica, &request));
  expect_failure(call(list.group(), grid.replica, &second), {Failure{0, MPI_ERR_REQUEST}});
  EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, second);
  TIDE_OK(MPIX_Tide_wait(&request));
  c.check("beside a refused one");
  int stream = 0;
  expect_failure(MPIX_Tide_replica_allreduce_enqueue(c.shards.list(), 0, MPIX_TIDE_SUM, 1.0,
                                                     list.group(), grid.replica, &stream),
                 {unsupported});
  c.check("an enqueue form");
}

}  // namespace
}  // namespace tide_test
