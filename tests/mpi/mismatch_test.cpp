// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Arguments that differ between ranks: the same error on all, naming rank and field, and the
// communicator stays usable. Two or more ranks, any map.
#include <cstdlib>
#include <limits>

#include "list.hpp"

namespace tide_test {
namespace {

const int odd_one = 1;  // the rank that differs

bool differs() { return world().rank == odd_one; }

void expect_create_mismatch(const std::vector<MPIX_Tide_param>& params,
                            std::initializer_list<std::string> words,
                            std::initializer_list<Failure> allowed = {mismatch},
                            MPI_Info info = MPI_INFO_NULL) {
  auto* const untouched = reinterpret_cast<MPIX_Tide_group>(0x10);
  MPIX_Tide_group group = untouched;
  const int code = MPIX_Tide_group_create(MPI_COMM_WORLD, static_cast<int>(params.size()),
                                          params.data(), info, &group);
  expect_failure_on_all(world(), code, allowed, words);
  EXPECT_EQ(untouched, group) << "out arguments are written only on success";
  expect_usable(world());
}

TEST(MismatchAtCreate, NumberOfParameters) {
  std::vector<MPIX_Tide_param> params = {param(7, 3), param(5, 2)};
  if (differs()) params.push_back(param(1, 1));
  expect_create_mismatch(params, {"rank 1", "nparams", "2", "3"});
}

TEST(MismatchAtCreate, Rows) {
  expect_create_mismatch({param(4, 1), param(differs() ? 8 : 9, 2)}, {"rank 1", "rows", "8", "9"});
}

// The variable reaches some ranks only: a launcher was not told to pass it on.
TEST(MismatchAtCreate, FakeNodesNotOnAllRanks) {
  world();
  const char* text = std::getenv("TIDE_FAKE_NODES");
  const std::string before = text ? text : "";
  std::string one = "0";
  for (int r = 1; r < world().size; ++r) one += ",0";
  setenv("TIDE_FAKE_NODES", differs() ? "" : one.c_str(), 1);
  Comm comm(dup(MPI_COMM_WORLD));
  const MPIX_Tide_param p = param(9, 5);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  expect_failure_on_all(world(), MPIX_Tide_group_create(comm, 1, &p, MPI_INFO_NULL, &group),
                        {mismatch}, {"rank 1", "TIDE_FAKE_NODES", "not set"});
  setenv("TIDE_FAKE_NODES", before.c_str(), 1);
  expect_usable(team_of(comm));
}

TEST(MismatchAtCreate, RowElems) {
  expect_create_mismatch({param(9, differs() ? 3 : 2)}, {"rank 1", "row_elems", "2", "3"});
}

TEST(MismatchAtCreate, BlockRows) {
  expect_create_mismatch({param(9, 2, MPIX_TIDE_BF16, 0, differs() ? 3 : 2)},
                         {"rank 1", "block_rows"});
}

TEST(MismatchAtCreate, Dtype) {
  expect_create_mismatch({param(9, 2, differs() ? MPIX_TIDE_FP16 : MPIX_TIDE_BF16)},
                         {"rank 1", "dtype is fp16 but rank 0 has bf16"});
}

TEST(MismatchAtCreate, Types) {
  const int types = differs() ? types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16) : 0;
  expect_create_mismatch({param(9, 2, MPIX_TIDE_BF16, types)},
                         {"rank 1", "types is TYPES(fp32, bf16) but rank 0 has 0"});
}

TEST(MismatchAtCreate, Info) {
  Info order{{"tide_order", differs() ? "rank" : "node"}};
  expect_create_mismatch({param(9, 2)}, {"rank 1", "tide_order"}, {mismatch}, order);
}

TEST(MismatchAtCreate, LastRankOnly) {
  const bool last = world().rank == world().size - 1;
  expect_create_mismatch({param(4, 1), param(5, 5), param(last ? 8 : 9, 2)},
                         {"rank " + std::to_string(world().size - 1), "rows", "2"});
}

TEST(MismatchAtCreate, KindOfLayout) {
  const std::vector<MPIX_Tide_param> params = {param(4, 2)};
  std::vector<MPI_Count> table(static_cast<size_t>(world().size) + 1, 4);
  table[0] = 0;
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const int code =
      differs() ? MPIX_Tide_group_create_explicit(MPI_COMM_WORLD, 1, params.data(), table.data(),
                                                  MPI_INFO_NULL, &group)
                : MPIX_Tide_group_create(MPI_COMM_WORLD, 1, params.data(), MPI_INFO_NULL, &group);
  expect_failure_on_all(world(), code, {mismatch}, {"rank 1", "layout"});
  expect_usable(world());
}

TEST(MismatchAtCreate, ExplicitTable) {
  const std::vector<MPIX_Tide_param> params = {param(4, 2)};
  std::vector<MPI_Count> table(static_cast<size_t>(world().size) + 1, 4);
  table[0] = 0;
  if (differs()) table[1] = 2;
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const int code = MPIX_Tide_group_create_explicit(MPI_COMM_WORLD, 1, params.data(), table.data(),
                                                   MPI_INFO_NULL, &group);
  expect_failure_on_all(world(), code, {mismatch}, {"rank 1", "first_row"});
  expect_usable(world());
}

class MismatchInCall : public testing::Test {
 protected:
  List list_{world(), {param(9, 2), param(6, 5)}};
  Pieces grads_{world(), Memory::tide, list_.grad_bytes()},
      sums_{world(), Memory::tide, list_.out_bytes(MPIX_TIDE_FP32)};
  Pieces shards_{world(), Memory::tide, list_.shard_bytes()},
      full_{world(), Memory::tide, list_.full_bytes()};

  int reduce(int out_dtype, int op, double scale) {
    return MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads_.list()), sums_.list(), out_dtype, op,
                                    scale, list_.group());
  }
  int gather() {
    return MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards_.list()), full_.list(), list_.group());
  }
  // The same group goes on, with right results, in both memory kinds.
  void expect_recovered() {
    for (Memory memory : {Memory::tide, Memory::foreign}) {
      check_allgather(list_, {.shards = memory, .params = memory, .salt = 3});
      check_reduce_scatter(list_, {.grads = memory, .out_dtype = MPIX_TIDE_FP32, .pattern = rough});
    }
    expect_usable(world());
  }
};

TEST_F(MismatchInCall, Operation) {
  expect_failure_on_all(
      world(), reduce(MPIX_TIDE_FP32, differs() ? MPIX_TIDE_AVG : MPIX_TIDE_SUM, 1.0), {mismatch});
  expect_recovered();
}

TEST_F(MismatchInCall, ScaleOfOneRankIsInfinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  expect_failure_on_all(world(), reduce(MPIX_TIDE_FP32, MPIX_TIDE_SUM, differs() ? infinite : 1.0),
                        {arg}, {"rank 1", "scale is NaN or infinite"});
  expect_recovered();
}

TEST_F(MismatchInCall, Accumulate) {
  grads_.fill(0);
  sums_.fill(0);
  expect_failure_on_all(
      world(), reduce(MPIX_TIDE_FP32, MPIX_TIDE_SUM | (differs() ? MPIX_TIDE_ACCUMULATE : 0), 1.0),
      {mismatch});
  expect_recovered();
}

TEST_F(MismatchInCall, Scale) {
  expect_failure_on_all(world(), reduce(MPIX_TIDE_FP32, MPIX_TIDE_SUM, differs() ? 0.5 : 0.25),
                        {mismatch});
  expect_recovered();
}

TEST_F(MismatchInCall, OutDtype) {
  expect_failure_on_all(
      world(), reduce(differs() ? MPIX_TIDE_BF16 : MPIX_TIDE_FP32, MPIX_TIDE_SUM, 1.0), {mismatch});
  expect_recovered();
}

TEST_F(MismatchInCall, KindOfCollective) {
  expect_failure_on_all(world(), differs() ? gather() : reduce(MPIX_TIDE_FP32, MPIX_TIDE_SUM, 1.0),
                        {mismatch});
  expect_recovered();
}

TEST_F(MismatchInCall, ManyInARow) {
  for (int call = 0; call < 30; ++call) {
    const int code =
        call % 3 == 0 ? reduce(MPIX_TIDE_FP32, MPIX_TIDE_SUM, differs() ? 2.0 : 1.0)
        : call % 3 == 1
            ? (world().rank == call % world().size ? gather() : reduce(0, MPIX_TIDE_SUM, 1.0))
            : gather();
    if (call % 3 == 2)
      TIDE_OK(code);
    else
      expect_failure_on_all(world(), code, {mismatch});
  }
  expect_recovered();
}

TEST_F(MismatchInCall, OtherGroupOfOneCommunicator) {
  List other(world(), {param(9, 2), param(6, 6)});
  Pieces shards(world(), Memory::tide, other.shard_bytes()),
      full(world(), Memory::tide, other.full_bytes());
  const int code =
      differs() ? MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), full.list(), other.group())
                : gather();
  expect_failure_on_all(world(), code, {mismatch});
  check_allgather(other);
  expect_recovered();
}

// Collectives that are no numbered calls: another one on one rank.
TEST(MismatchOfSetUps, AreNamedAndTheCommunicatorGoesOn) {
  const MPIX_Tide_param p = param(9, 5);
  const auto norm2 = [] {
    double norm = -1;
    return MPIX_Tide_norm2(MPI_COMM_WORLD, 0, nullptr, nullptr, 0, &norm);
  };
  const auto load = [] {
    return MPIX_Tide_load(MPI_COMM_WORLD, "none", 0, nullptr, nullptr, 0, nullptr, MPI_INFO_NULL);
  };
  const auto create = [&] {
    MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
    return MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &p, MPI_INFO_NULL, &group);
  };
  const auto alloc = [] {
    void* base = nullptr;
    return MPIX_Tide_alloc(MPI_COMM_WORLD, 4096, MPI_INFO_NULL, &base);
  };
  expect_failure_on_all(world(), differs() ? load() : norm2(), {mismatch},
                        {"rank 1 is in MPIX_Tide_load", "rank 0 in MPIX_Tide_norm2"});
  expect_failure_on_all(world(), differs() ? norm2() : create(), {mismatch},
                        {"rank 1 is in MPIX_Tide_norm2", "rank 0 in MPIX_Tide_group_create"});
  expect_failure_on_all(world(), differs() ? create() : alloc(), {mismatch},
                        {"rank 1 is in MPIX_Tide_group_create", "rank 0 in MPIX_Tide_alloc"});
  expect_usable(world());
}

// A call on some ranks, something else on one: no time limit is needed.  What has begun cannot be
// taken back, so that this communicator is over.
TEST(MismatchOfSetUps, AgainstACallEndTheCommunicator) {
  Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  List list(team, {param(9, 2)});
  Pieces shards(team, Memory::tide, list.shard_bytes()),
      full(team, Memory::tide, list.full_bytes());
  const auto gather = [&] {
    return MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), full.list(), list.group());
  };
  TIDE_OK(gather());
  double norm = -1;
  const int code = differs() ? MPIX_Tide_norm2(comm, 0, nullptr, nullptr, 0, &norm) : gather();
  expect_failure_on_all(team, code, {mismatch},
                        {"rank 1: is in MPIX_Tide_norm2", "in another call", "same order"});
  expect_failure_on_all(team, gather(), {mismatch}, {"cannot be used any more"});
  expect_usable(world());
}

}  // namespace
}  // namespace tide_test
