// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments: class, message, error handler; a wrong argument of ONE rank is an error on ALL
// ranks of a collective and everything goes on afterwards.  Any ranks, any map.
#include <cstring>
#include <limits>

#include "list.hpp"

namespace tide_test {
namespace {

bool culprit() { return world().rank == world().size - 1; }  // where only one rank is wrong

// The call is made once with the wrong argument everywhere and once with it on the last rank only.
template <class Call>
void expect_refused(Call call, std::initializer_list<Failure> allowed,
                    std::initializer_list<std::string> words = {}) {
  expect_failure_on_all(world(), call(true), allowed, words);
  expect_failure_on_all(world(), call(culprit()), allowed);
  expect_usable(world());
}

int create(int nparams, const MPIX_Tide_param* params, MPI_Info info = MPI_INFO_NULL) {
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const int code = MPIX_Tide_group_create(MPI_COMM_WORLD, nparams, params, info, &group);
  EXPECT_EQ(MPIX_TIDE_GROUP_NULL, group);
  return code;
}

int create(const MPIX_Tide_param& p, MPI_Info info = MPI_INFO_NULL) { return create(1, &p, info); }

TEST(CreateErrors, Counts) {
  const MPIX_Tide_param good = param(5, 3);
  const MPI_Count large = std::numeric_limits<MPI_Count>::max();
  expect_refused([&](bool wrong) { return create(wrong ? -1 : 1, &good); }, {count, arg},
                 {"nparams"});
  expect_refused([&](bool wrong) { return create(wrong ? param(-5, 3) : good); }, {count, arg},
                 {"rows", "-5"});
  expect_refused([&](bool wrong) { return create(wrong ? param(5, -3) : good); }, {count, arg},
                 {"row_elems", "-3"});
  expect_refused(
      [&](bool wrong) { return create(wrong ? param(5, 3, MPIX_TIDE_BF16, 0, -2) : good); },
      {count, arg}, {"block_rows"});
  expect_refused([&](bool wrong) { return create(wrong ? param(large, 3) : good); }, {count, arg});
  expect_refused(
      [&](bool wrong) {
        return create(wrong ? param(MPI_Count{1} << 32, MPI_Count{1} << 31) : good);
      },
      {count, arg});
  expect_refused(
      [&](bool wrong) {
        return create(wrong ? param(MPI_Count{1} << 60, 1, MPIX_TIDE_FP64) : good);
      },
      {count, arg});
}

TEST(CreateErrors, Types) {
  const MPIX_Tide_param good = param(5, 3);
  for (int dtype : {0, -1, 6, 99, static_cast<int>(MPIX_TIDE_NOGRAD)}) {
    expect_refused([&](bool wrong) { return create(wrong ? param(5, 3, dtype) : good); }, {arg},
                   {"dtype " + (dtype == MPIX_TIDE_NOGRAD ? "NOGRAD" : std::to_string(dtype))});
  }
  for (int types : {99, 7 << 8, static_cast<int>(MPIX_TIDE_FP32),
                    types_of(MPIX_TIDE_NOGRAD, MPIX_TIDE_BF16), 1 << 20, -1}) {
    expect_refused(
        [&](bool wrong) { return create(wrong ? param(5, 3, MPIX_TIDE_BF16, types) : good); },
        {arg}, {"types"});
  }
}

TEST(CreateErrors, NullArguments) {
  const MPIX_Tide_param good = param(5, 3);
  expect_refused([&](bool wrong) { return create(1, wrong ? nullptr : &good); }, {arg});
  // The out pointer cannot differ in a call that succeeds elsewhere: all ranks must fail, none may
  // hold a group.
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const int code =
      MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &good, MPI_INFO_NULL, culprit() ? nullptr : &group);
  expect_failure_on_all(world(), code, {arg});
  EXPECT_EQ(MPIX_TIDE_GROUP_NULL, group);
  expect_usable(world());
}

TEST(CreateErrors, ExplicitTables) {
  const MPIX_Tide_param p = param(8, 3, MPIX_TIDE_BF16, 0, 2);
  const size_t n = static_cast<size_t>(world().size);
  std::vector<MPI_Count> good(n + 1, 8), odd_end = good, late = good, falls = good, block = good,
                                         negative = good;
  good[0] = odd_end[0] = falls[0] = block[0] = 0;
  odd_end[n] = 7;
  late[0] = 2;
  negative[0] = -2;
  falls[n == 1 ? 0 : 1] = 10;
  block[n == 1 ? 0 : 1] = 3;  // not a multiple of block_rows
  const auto create_with = [&](const std::vector<MPI_Count>* table) {
    MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
    return MPIX_Tide_group_create_explicit(MPI_COMM_WORLD, 1, &p, table ? table->data() : nullptr,
                                           MPI_INFO_NULL, &group);
  };
  for (const auto* table : {&odd_end, &late, &falls, &block, &negative,
                            static_cast<std::vector<MPI_Count>*>(nullptr)}) {
    expect_refused([&](bool wrong) { return create_with(wrong ? table : &good); }, {arg});
  }
}

TEST(CreateErrors, InfoKeys) {
  const MPIX_Tide_param good = param(5, 3);
  const std::pair<const char*, const char*> wrong_pairs[] = {
      {"tide_no_such_key", "1"},  {"tide_order", "sideways"},   {"tide_rail", "pigeon"},
      {"tide_timeout", "soon"},   {"tide_timeout", "-3"},       {"tide_workspace_bytes", "many"},
      {"tide_chunk_bytes", "-1"}, {"tide_eager_bytes", "8193"}, {"tide_progress", "maybe"},
      {"tide_multicast", "7"}};
  for (const auto& [key, value] : wrong_pairs) {
    SCOPED_TRACE(std::string(key) + "=" + value);
    Info info{{key, value}};
    expect_failure_on_all(world(), create(good, info), {arg}, {key});
    // On one rank only: the sets differ as well, so either name of the error is right, but it must
    // be one for all.
    expect_failure_on_all(world(),
                          create(good, culprit() ? static_cast<MPI_Info>(info) : MPI_INFO_NULL),
                          {arg, mismatch}, {key});
    expect_usable(world());
  }
  Info strangers{{"mpi_assert_no_locks", "true"}, {"cb_nodes", "4"}};
  List list(world(), {good}, strangers);
  check_allgather(list);
}

TEST(CreateErrors, MulticastThatCannotBe) {
  Info info{{"tide_multicast", "on"}};
  expect_failure_on_all(world(), create(param(5, 3), info), {unsupported},
                        {"tide_multicast = on", "MULTICAST"});  // of the build, or the permission
  expect_usable(world());
}

TEST(CreateErrors, KeyThatIsAVariable) {
  Info info{{"tide_log", "debug"}};
  expect_failure_on_all(world(), create(param(5, 3), info), {arg},
                        {"tide_log", "TIDE_LOG is an environment variable only"});
}

TEST(CreateErrors, KeysOfTheAllocCalls) {
  const MPIX_Tide_param p = param(5, 3);
  Info share{{"tide_share", "none"}};
  expect_failure_on_all(world(), create(1, &p, share), {arg}, {"tide_share", "MPIX_Tide_alloc"});
  expect_usable(world());
}

TEST(CreateErrors, WorkspaceBelowTheMinimum) {
  const std::vector<MPIX_Tide_param> params = {param(513, 65), param(1031, 33)};
  MPIX_Tide_sizes sizes;
  {
    List list(world(), params);
    TIDE_OK(MPIX_Tide_group_sizes(list.group(), &sizes));
  }
  MPI_Count least = sizes.reduce_scatter_workspace_min_bytes;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_COUNT, MPI_MAX, MPI_COMM_WORLD);
  if (least > 1) {
    Info info{{"tide_workspace_bytes", std::to_string(least - 1)}};
    expect_failure_on_all(world(), create(2, params.data(), info), {arg},
                          {"tide_workspace_bytes", std::to_string(least)});
    expect_usable(world());
    Info one{{"tide_workspace_bytes", "1"}};  // a bound, not "Tide's choice"
    expect_failure_on_all(world(), create(2, params.data(), one), {arg}, {"tide_workspace_bytes"});
    // The named minimum holds for every output type: fp32 gradients may be summed in fp64.
    const std::vector<MPIX_Tide_param> single = {param(513, 65, MPIX_TIDE_FP32)};
    MPIX_Tide_sizes wide;
    {
      List list(world(), single);
      TIDE_OK(MPIX_Tide_group_sizes(list.group(), &wide));
    }
    Info just{{"tide_workspace_bytes", std::to_string(wide.reduce_scatter_workspace_min_bytes)}};
    List fits(world(), single, just);
    check_reduce_scatter(fits, {.out_dtype = MPIX_TIDE_FP64});
  } else {
    EXPECT_EQ(1u, world().members.size()) << "several nodes need workspace";
  }
  Info enough{{"tide_workspace_bytes", std::to_string(std::max<MPI_Count>(least, 1))}};
  List list(world(), params, enough);
  TIDE_OK(MPIX_Tide_group_sizes(list.group(), &sizes));
  EXPECT_LE(sizes.reduce_scatter_workspace_bytes, std::max<MPI_Count>(least, 1));
  check_reduce_scatter(list, {.out_dtype = MPIX_TIDE_FP32, .pattern = rough});
}

TEST(CallErrors, AbsentBuffers) {
  List list(world(), {param(2 * world().size, 3), param(world().size, 2)});
  Pieces shards(world(), Memory::tide, list.shard_bytes()),
      full(world(), Memory::tide, list.full_bytes());
  Pieces grads(world(), Memory::tide, list.grad_bytes()),
      sums(world(), Memory::tide, list.out_bytes(MPIX_TIDE_FP32));
  const auto without = [](const Pieces& pieces, bool wrong) {
    return std::vector<void*>{pieces[0], wrong ? nullptr : pieces[1]};
  };
  full.fill(0x33);
  const auto gather = [&](bool in, bool out) {
    const std::vector<void*> a = without(shards, in), b = without(full, out);
    return MPIX_Tide_allgather(MPIX_TIDE_INPUTS(a.data()), b.data(), list.group());
  };
  const auto reduce = [&](bool in, bool out) {
    const std::vector<void*> a = without(grads, in), b = without(sums, out);
    return MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(a.data()), b.data(), MPIX_TIDE_FP32,
                                    MPIX_TIDE_SUM, 1.0, list.group());
  };
  expect_refused([&](bool wrong) { return gather(wrong, false); }, {buffer}, {"1"});
  expect_refused([&](bool wrong) { return gather(false, wrong); }, {buffer}, {"1"});
  expect_refused([&](bool wrong) { return reduce(wrong, false); }, {buffer}, {"1"});
  expect_refused([&](bool wrong) { return reduce(false, wrong); }, {buffer}, {"1"});
  expect_refused(
      [&](bool wrong) {
        return MPIX_Tide_allgather(wrong ? nullptr : MPIX_TIDE_INPUTS(shards.list()), full.list(),
                                   list.group());
      },
      {buffer, arg});
  expect_refused(
      [&](bool wrong) {
        return MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), wrong ? nullptr : full.list(),
                                   list.group());
      },
      {buffer, arg});
  full.expect_filled(0x33, "an all-gather that was refused");
  check_allgather(list, {.salt = 2});
  check_reduce_scatter(list, {.out_dtype = MPIX_TIDE_FP32});
}

TEST(CallErrors, OperationsAndTypes) {
  List list(world(), {param(9, 3), param(5, 2)});
  Pieces grads(world(), Memory::tide, list.grad_bytes()),
      sums(world(), Memory::tide, list.out_bytes(MPIX_TIDE_FP64));
  const auto reduce = [&](int out_dtype, int op, const List& l, const Pieces& in) {
    return MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(in.list()), sums.list(), out_dtype, op, 1.0,
                                    l.group());
  };
  for (int op : {0, 3, 99, -1, static_cast<int>(MPIX_TIDE_ACCUMULATE), MPIX_TIDE_SUM | 0x800}) {
    expect_refused(
        [&](bool wrong) { return reduce(MPIX_TIDE_FP32, wrong ? op : MPIX_TIDE_SUM, list, grads); },
        {arg}, {"op"});
  }
  for (int out : {-1, 99, static_cast<int>(MPIX_TIDE_NOGRAD)}) {
    expect_refused(
        [&](bool wrong) {
          return reduce(wrong ? out : MPIX_TIDE_FP32, MPIX_TIDE_SUM, list, grads);
        },
        {arg, unsupported}, {"out_dtype"});
  }
  for (int out : {MPIX_TIDE_FP16, MPIX_TIDE_FP64, MPIX_TIDE_UINT8}) {  // bf16 gradients into these
    expect_refused(
        [&](bool wrong) {
          return reduce(wrong ? out : MPIX_TIDE_FP32, MPIX_TIDE_SUM, list, grads);
        },
        {unsupported});
  }
  // The same lists again with another flag and type: nothing of the last check may be taken over.
  TIDE_OK(reduce(MPIX_TIDE_FP32, MPIX_TIDE_SUM | MPIX_TIDE_NULL_IS_ZERO, list, grads));
  TIDE_OK(reduce(0, MPIX_TIDE_SUM | MPIX_TIDE_NULL_IS_ZERO, list, grads));
  expect_failure_on_all(world(), reduce(0x100, MPIX_TIDE_SUM, list, grads), {arg}, {"out_dtype"});
  check_reduce_scatter(list, {.out_dtype = MPIX_TIDE_FP32});
}

TEST(CallErrors, PairsThatHaveNoReduceScatter) {
  const int pairs[][3] = {{MPIX_TIDE_FP32, MPIX_TIDE_BF16, 0},
                          {MPIX_TIDE_FP64, MPIX_TIDE_FP32, 0},
                          {MPIX_TIDE_FP64, MPIX_TIDE_FP64, MPIX_TIDE_FP32},
                          {MPIX_TIDE_UINT8, MPIX_TIDE_UINT8, 0},
                          {MPIX_TIDE_FP32, MPIX_TIDE_FP32, MPIX_TIDE_BF16},
                          {MPIX_TIDE_BF16, MPIX_TIDE_FP16, 0}};
  for (const auto& [grad, shard, out] : pairs) {
    SCOPED_TRACE(name_of_dtype(grad) + " to " + name_of_dtype(shard) + ", out_dtype " +
                 name_of_dtype(out));
    const MPIX_Tide_param p = param(9, 3, shard, types_of(shard, grad));
    MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
    TIDE_OK(MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &p, MPI_INFO_NULL, &group));
    if (group == MPIX_TIDE_GROUP_NULL) continue;
    Pieces grads(world(), Memory::tide, {9 * 3 * size_of(grad)}),
        sums(world(), Memory::tide, {9 * 3 * 8});
    expect_failure_on_all(world(),
                          MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.list()), sums.list(), out,
                                                   MPIX_TIDE_SUM, 1.0, group),
                          {unsupported});
    TIDE_OK(MPIX_Tide_group_free(&group));
  }
  expect_usable(world());
}

TEST(CallErrors, InPlaceNeedsOneType) {
  List list(world(), {param(9, 3, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16))});
  Pieces shards(world(), Memory::tide, list.shard_bytes()),
      full(world(), Memory::tide, list.full_bytes());
  expect_refused(
      [&](bool wrong) {
        return MPIX_Tide_allgather(wrong ? MPIX_TIDE_IN_PLACE : MPIX_TIDE_INPUTS(shards.list()),
                                   full.list(), list.group());
      },
      {unsupported});
  check_allgather(list, {.salt = 2});
}

TEST(CallErrors, GatherCannotWiden) {
  const MPIX_Tide_param p = param(9, 3, MPIX_TIDE_FP32, types_of(MPIX_TIDE_BF16, MPIX_TIDE_FP32));
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  int code = MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &p, MPI_INFO_NULL, &group);
  if (code == MPI_SUCCESS) {  // such a group could still reduce: both moments are right
    Pieces shards(world(), Memory::tide, {9 * 3 * 2}), full(world(), Memory::tide, {9 * 3 * 4});
    code = MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), full.list(), group);
  }
  expect_failure_on_all(world(), code, {unsupported});
  if (group != MPIX_TIDE_GROUP_NULL) TIDE_OK(MPIX_Tide_group_free(&group));
}

TEST(HandleErrors, NullGroups) {
  MPIX_Tide_group none = MPIX_TIDE_GROUP_NULL;
  void* nothing[1] = {nullptr};
  MPI_Count a, b;
  MPIX_Tide_sizes sizes;
  size_t needed;
  int n;
  expect_failure(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(nothing), nothing, none), {arg}, {"group"});
  expect_failure(
      MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(nothing), nothing, 0, MPIX_TIDE_SUM, 1.0, none),
      {arg}, {"group"});
  expect_failure(MPIX_Tide_group_free(&none), {arg});
  expect_failure(MPIX_Tide_group_free(nullptr), {arg});
  expect_failure(MPIX_Tide_group_get(none, nullptr, &n, nullptr), {arg});
  expect_failure(MPIX_Tide_group_shard(none, 0, 0, &a, &b), {arg});
  expect_failure(MPIX_Tide_group_sizes(none, &sizes), {arg});
  expect_failure(MPIX_Tide_group_report(none, nullptr, 0, &needed), {arg});
  expect_failure(MPIX_Tide_group_offsets(none, MPIX_TIDE_FULL, 0, 1, nullptr, &a), {arg});
  expect_failure(MPIX_Tide_group_set_names(none, "x", nullptr), {arg});
  expect_failure(MPIX_Tide_group_alloc(none, MPIX_TIDE_FULL, 0, MPI_INFO_NULL, nothing, nothing),
                 {arg});
}

TEST(HandleErrors, FreeOfStrangeMemory) {
  int on_stack = 0;
  expect_failure(MPIX_Tide_free(MPI_COMM_NULL, &on_stack), {arg, buffer});
  void* base = nullptr;
  TIDE_OK(MPIX_Tide_alloc(MPI_COMM_WORLD, 4096, MPI_INFO_NULL, &base));
  expect_failure(MPIX_Tide_free(MPI_COMM_WORLD, static_cast<char*>(base) + 8), {arg, buffer});
  TIDE_OK(MPIX_Tide_free(MPI_COMM_WORLD, base));
  expect_failure(MPIX_Tide_free(MPI_COMM_WORLD, base), {arg, buffer});  // twice
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, nullptr));  // what an allocation of 0 bytes gave
}

TEST(HandleErrors, KindOfSuccessAndOfPlainMpiCodes) {
  int kind = -1;
  TIDE_OK(MPIX_Tide_error_kind(MPI_SUCCESS, &kind));
  EXPECT_EQ(0, kind);
  TIDE_OK(MPIX_Tide_error_kind(MPI_ERR_TRUNCATE, &kind));
  EXPECT_EQ(0, kind);
}

// MPI gives the callback no room for data but the communicator.
int calls = 0, last_code = MPI_SUCCESS;
void count_call(MPI_Comm*, int* code, ...) {
  ++calls;
  last_code = *code;
}

class ErrorCallback : public testing::Test {
 protected:
  ErrorCallback() {
    MPI_Comm_create_errhandler(count_call, &callback_);
    calls = 0;
  }
  ~ErrorCallback() override { MPI_Errhandler_free(&callback_); }
  MPI_Errhandler callback_;
};

TEST_F(ErrorCallback, OfTheCommunicatorIsCalledOncePerError) {
  Comm comm(dup(MPI_COMM_WORLD));
  MPI_Comm_set_errhandler(comm, callback_);
  const MPIX_Tide_param wrong = param(-1, 2), good = param(5, 3);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const int code =
      MPIX_Tide_group_create(comm, 1, culprit() ? &wrong : &good, MPI_INFO_NULL, &group);
  EXPECT_EQ(1, calls);
  EXPECT_EQ(code, last_code);
  TIDE_OK(MPIX_Tide_group_create(comm, 1, &good, MPI_INFO_NULL, &group));
  EXPECT_EQ(1, calls) << "called without an error";
  void* nothing[1] = {nullptr};
  EXPECT_NE(MPI_SUCCESS, MPIX_Tide_allgather(MPIX_TIDE_INPUTS(nothing), nothing, group));
  EXPECT_EQ(2, calls);
  MPI_Comm_set_errhandler(comm,
                          MPI_ERRORS_RETURN);  // the current one counts, not the one at creation
  EXPECT_NE(MPI_SUCCESS, MPIX_Tide_group_shard(group, 9, 0, nullptr, nullptr));
  EXPECT_EQ(2, calls);
  TIDE_OK(MPIX_Tide_group_free(&group));
}

TEST_F(ErrorCallback, AtCreationServesAfterTheCommunicatorIsFreed) {
  Comm comm(dup(MPI_COMM_WORLD));
  MPI_Comm_set_errhandler(comm, callback_);
  const MPIX_Tide_param good = param(5, 3);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  TIDE_OK(MPIX_Tide_group_create(comm, 1, &good, MPI_INFO_NULL, &group));
  comm.free();
  EXPECT_NE(MPI_SUCCESS, MPIX_Tide_group_shard(group, 9, 0, nullptr, nullptr));
  EXPECT_EQ(1, calls);
  TIDE_OK(MPIX_Tide_group_free(&group));
}

TEST_F(ErrorCallback, OfSelfServesWhereThereIsNoCommunicator) {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, callback_);
  EXPECT_NE(MPI_SUCCESS, MPIX_Tide_allgather(nullptr, nullptr, MPIX_TIDE_GROUP_NULL));
  EXPECT_EQ(1, calls);
  MPIX_Tide_topology topology;
  EXPECT_NE(MPI_SUCCESS, MPIX_Tide_comm_topology(MPI_COMM_NULL, &topology));
  EXPECT_EQ(2, calls);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

}  // namespace
}  // namespace tide_test
