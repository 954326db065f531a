// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a pipeline refuses, what it says then, and that it goes on; frees in any order.
#include "training.hpp"

namespace tide_test {
namespace {

// The pipeline's errors come back, also those without a communicator.
class PipelineErrors : public testing::Test {
 protected:
  PipelineErrors() {
    for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
};
using PipelineFree = PipelineErrors;

struct Maker {
  explicit Maker(int layers) {
    for (int l = 0; l < layers; l++) {
      lists.push_back(std::make_unique<List>(world(), layer_list(l)));
      groups.push_back(lists.back()->group());
    }
    schedule.nlayers = layers;
    schedule.groups = groups.data();
    schedule.prefetch = schedule.reshard_after_forward = 1;
  }
  int make(MPI_Info info = MPI_INFO_NULL) {
    return MPIX_Tide_pipeline_create(&schedule, info, &pipeline);
  }
  void refused(std::initializer_list<Failure> how, std::initializer_list<std::string> words,
               MPI_Info info = MPI_INFO_NULL) {
    expect_failure_on_all(world(), make(info), how, words);
    EXPECT_EQ(MPIX_TIDE_PIPELINE_NULL, pipeline);
    expect_usable(world());
  }
  std::vector<std::unique_ptr<List>> lists;
  std::vector<MPIX_Tide_group> groups;
  MPIX_Tide_schedule schedule{};
  MPIX_Tide_pipeline pipeline = MPIX_TIDE_PIPELINE_NULL;
};

TEST_F(PipelineErrors, Schedules) {
  Maker m(3);
  const MPIX_Tide_schedule good = m.schedule;
  const auto wrong = [&](auto set, Failure how, std::initializer_list<std::string> words) {
    m.schedule = good;
    set(m.schedule);
    m.refused({how}, words);
  };
  using S = MPIX_Tide_schedule&;
  const int flags[] = {0, 4, 0}, visits[] = {0, 3}, negative[] = {-1};
  wrong([](S s) { s.mode = 3; }, arg, {"mode is 3", "MPIX_TIDE_SLOT_REUSE_MODE"});
  wrong([](S s) { s.prefetch = -1; }, arg, {"prefetch is -1", "at least 0"});
  wrong([](S s) { s.reshard_after_forward = 2; }, arg, {"reshard_after_forward is 2"});
  wrong([](S s) { s.reserved[7] = 1; }, arg, {"reserved[7] is 1", "zero-initialise"});
  wrong([&](S s) { s.layer_flags = flags; }, arg, {"layer 1", "layer_flags is 4"});
  wrong([&](S s) { s.forward = visits, s.nforward = 2; }, arg, {"forward[1] is 3", "0 to 2"});
  wrong([&](S s) { s.backward = negative, s.nbackward = 1; }, arg, {"backward[0] is -1"});
  wrong([&](S s) { s.forward = visits, s.nforward = -2; }, count, {"nforward is -2"});
  m.schedule = good;
  m.groups[2] = m.groups[0];
  m.refused({arg}, {"layer 2", "layer 0's", "twice"});
  m.groups[2] = MPIX_TIDE_GROUP_NULL;
  m.refused({arg}, {"layer 2", "groups[2]", "live group"});
  const Comm other(dup(MPI_COMM_WORLD));
  const List apart(team_of(other), layer_list(0));
  m.groups[2] = apart.group();
  m.refused({arg}, {"layer 2", "another communicator"});
  m.groups[2] = m.lists[2]->group();
  m.refused({arg}, {"tide_shore"}, Info{{"tide_shore", "node"}});
  m.refused({arg}, {"tide_order", "MPIX_Tide_group_create"}, Info{{"tide_order", "rank"}});
  m.schedule.mode = MPIX_TIDE_SLOT_REUSE_MODE;
  m.refused({arg}, {"tide_share = node", "MPIX_TIDE_IN_PLACE_MODE"}, Info{{"tide_share", "node"}});
  m.schedule = good;
  expect_failure_on_all(world(), MPIX_Tide_pipeline_create(&m.schedule, MPI_INFO_NULL, nullptr),
                        {arg}, {"pipeline is NULL"});
  TIDE_OK(m.make());
  TIDE_OK(MPIX_Tide_pipeline_free(&m.pipeline));
}

TEST_F(PipelineErrors, NobodyToTell) {
  Maker m(2);
  expect_failure(MPIX_Tide_pipeline_create(nullptr, MPI_INFO_NULL, &m.pipeline), {arg},
                 {"schedule is NULL"});
  m.schedule.nlayers = 0;
  expect_failure(m.make(), {arg}, {"nlayers is 0"});
  m.schedule.nlayers = 2;
  m.schedule.groups = nullptr;
  expect_failure(m.make(), {arg}, {"groups is NULL"});
  m.schedule.groups = m.groups.data();
  m.groups[0] = MPIX_TIDE_GROUP_NULL;
  expect_failure(m.make(), {arg}, {"not a live group"});
  expect_failure(MPIX_Tide_pipeline_free(&m.pipeline), {arg}, {"not a live pipeline"});
  expect_failure(MPIX_Tide_pipeline_free(nullptr), {arg}, {"not a live pipeline"});
  expect_failure(MPIX_Tide_pipeline_begin(m.pipeline, 0, nullptr), {arg}, {"not a live pipeline"});
}

TEST_F(PipelineErrors, RanksThatDiffer) {
  if (world().size == 1) GTEST_SKIP();
  Maker m(3);
  const bool odd = world().rank == world().size - 1;
  const std::string me = "rank " + std::to_string(world().size - 1);
  m.schedule.prefetch = odd ? 2 : 1;
  m.refused({mismatch}, {me, "prefetch is 2 but 1 on rank 0"});
  m.schedule.prefetch = 1;
  const int visits[] = {0, 1, 2, odd ? 1 : 2};
  m.schedule.forward = visits;
  m.schedule.nforward = 4;
  m.refused({mismatch}, {me, "forward[3] is 1 but 2 on rank 0"});
  m.schedule.nforward = odd ? 3 : 2;
  m.refused({mismatch}, {me, "nforward is 3 but 2 on rank 0"});
  m.schedule.forward = nullptr;
  if (odd) std::swap(m.groups[0], m.groups[2]);
  m.refused({mismatch}, {me, "layer 0: number of its group"});
  if (odd) m.schedule.mode = 9;  // one rank alone is wrong
  m.refused({arg}, {me, "mode is 9"});
  m.schedule.mode = 0;
  if (odd) m.groups[0] = MPIX_TIDE_GROUP_NULL;
  m.refused({arg}, {me, "layer 0: groups[0] is not a live group"});
  if (odd) m.schedule.nlayers = 0;  // nothing names a communicator; there is only one with groups
  m.refused({arg}, {me, "nlayers is 0"});
}

TEST_F(PipelineErrors, FlagsThatDiffer) {
  if (world().size == 1) GTEST_SKIP();
  const Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  const bool odd = team.rank == team.size - 1;
  const std::string me = "rank " + std::to_string(team.size - 1);
  Training t(team, Plan());
  t.new_shards();
  expect_failure_on_all(team, t.begin(odd), {mismatch}, {me, "flags"});  // takes memory
  t.micro_batch(true);
  t.micro_batch();
  // Nothing is exchanged in begin any more: the first gather tells.
  void* list[8] = {};
  t.new_shards();
  TIDE_OK(t.begin(!odd));
  expect_failure_on_all(team, MPIX_Tide_pipeline_gather(t.pipeline, 0, list, nullptr), {mismatch},
                        {me, "flags", "MPIX_TIDE_NO_SYNC"});
  expect_failure(MPIX_Tide_pipeline_finish(t.pipeline, nullptr), {mismatch}, {"flags"});
  t.micro_batch();
  // Memory of accumulated gradients on one rank, gathers on the others.
  Training plain(team, Plan());
  plain.micro_batch();
  plain.new_shards();
  int code = plain.begin(odd);
  if (code == MPI_SUCCESS) code = MPIX_Tide_pipeline_gather(plain.pipeline, 0, list, nullptr);
  expect_failure_on_all(
      team, code, {mismatch},
      {me + ": is in MPIX_Tide_pipeline_begin", "MPIX_TIDE_NO_SYNC", "same order"});
}

TEST_F(PipelineErrors, CallsThatAreNotDue) {
  Plan plan;
  plan.layers = 3;
  plan.flags = {0, MPIX_TIDE_LAYER_FROZEN, 0};
  Training t(world(), plan);
  const MPIX_Tide_pipeline p = t.pipeline;
  void* list[8] = {};
  const auto gather = [&](int l) { return MPIX_Tide_pipeline_gather(p, l, list, nullptr); };
  const auto grads = [&](int l) { return MPIX_Tide_pipeline_grads(p, l, list, nullptr); };
  const auto release = [&](int l) { return MPIX_Tide_pipeline_release(p, l, nullptr); };
  const auto reduce = [&](int l) {
    return MPIX_Tide_pipeline_reduce(p, l, 0, MPIX_TIDE_SUM, 1, nullptr);
  };
  const auto finish = [&] { return MPIX_Tide_pipeline_finish(p, nullptr); };
  const auto refuse = [](int code, std::initializer_list<std::string> words) {
    expect_failure(code, {request}, words);
  };
  t.new_shards();
  const auto begin_first = [&](int code) {
    refuse(code, {"not due", "expected is MPIX_Tide_pipeline_begin"});
  };
  begin_first(gather(0));
  begin_first(grads(0));
  begin_first(release(0));
  begin_first(reduce(0));
  begin_first(finish());
  TIDE_OK(t.begin());
  refuse(t.begin(), {"under way", "gather of layer 0 (forward visit 1 of 3)"});
  refuse(gather(1), {"gather of layer 1", "expected", "gather of layer 0 (forward visit 1 of 3)"});
  refuse(finish(), {"finish", "gather of layer 0"});
  refuse(release(0), {"release of layer 0 is not due"});
  TIDE_OK(gather(0));
  refuse(gather(1), {"release of layer 0 (forward visit 1 of 3)"});
  refuse(grads(0), {"grads of layer 0", "forward visit"});
  refuse(reduce(0), {"reduce of layer 0", "forward visit"});
  refuse(release(1), {"release of layer 1 is not due", "release of layer 0"});
  TIDE_OK(release(0));
  refuse(release(0), {"gather of layer 1 (forward visit 2 of 3)"});
  TIDE_OK(gather(1));
  TIDE_OK(release(1));
  TIDE_OK(gather(2));
  refuse(finish(), {"release of layer 2"});
  TIDE_OK(release(2));
  TIDE_OK(gather(2));  // backward
  refuse(reduce(2), {"reduce of layer 2", "gradients were not asked for", "grads of layer 2"});
  TIDE_OK(release(2));
  refuse(release(2), {"layer 2 is released already", "grads of layer 2 (backward visit 1 of 3)"});
  refuse(gather(1), {"expected is MPIX_Tide_pipeline_grads of layer 2"});
  TIDE_OK(grads(2));
  refuse(gather(1), {"expected is MPIX_Tide_pipeline_reduce of layer 2"});
  TIDE_OK(reduce(2));
  refuse(reduce(2), {"gather of layer 1 (backward visit 2 of 3)"});
  TIDE_OK(gather(1));
  refuse(grads(1), {"FROZEN"});
  refuse(reduce(1), {"FROZEN"});
  TIDE_OK(release(1));
  TIDE_OK(gather(0));
  TIDE_OK(grads(0));
  TIDE_OK(reduce(0));
  refuse(grads(0), {"being reduced", "release of layer 0"});
  refuse(reduce(0), {"called already", "release of layer 0"});
  TIDE_OK(release(0));
  refuse(gather(0), {"expected is MPIX_Tide_pipeline_finish"});
  TIDE_OK(finish());
  t.micro_batch();  // and all of that did no harm
}

TEST_F(PipelineErrors, Arguments) {
  Training t(world(), Plan());
  const MPIX_Tide_pipeline p = t.pipeline;
  void* list[8] = {};
  int there = 0;
  t.new_shards();
  for (int layer : {-1, 4}) {
    expect_failure(MPIX_Tide_pipeline_bind(p, layer, MPIX_TIDE_INPUTS(list), list), {arg},
                   {"layer is", "0 to 3"});
    expect_failure(MPIX_Tide_pipeline_gather(p, layer, list, nullptr), {arg}, {"layer is"});
    expect_failure(MPIX_Tide_pipeline_grads(p, layer, list, nullptr), {arg}, {"layer is"});
    expect_failure(MPIX_Tide_pipeline_release(p, layer, nullptr), {arg}, {"layer is"});
    expect_failure(MPIX_Tide_pipeline_reduce(p, layer, 0, MPIX_TIDE_SUM, 1, nullptr), {arg},
                   {"layer is"});
  }
  expect_failure(MPIX_Tide_pipeline_bind(p, 1, MPIX_TIDE_INPUTS(list), list), {request},
                 {"layer 1 is bound already"});
  expect_failure(MPIX_Tide_pipeline_begin(p, 2, nullptr), {arg}, {"flags is 2"});
  expect_failure(MPIX_Tide_pipeline_begin(p, 0, &there), {unsupported}, {"stream", "NULL"});
  TIDE_OK(t.begin());
  expect_failure(MPIX_Tide_pipeline_gather(p, 0, nullptr, nullptr), {arg}, {"params is NULL"});
  expect_failure(MPIX_Tide_pipeline_gather(p, 0, list, &there), {unsupported}, {"stream"});
  for (int v = 0; v < 4; v++) t.visit(v, {});
  TIDE_OK(MPIX_Tide_pipeline_gather(p, 3, list, nullptr));
  expect_failure(MPIX_Tide_pipeline_grads(p, 3, nullptr, nullptr), {arg}, {"grads is NULL"});
  expect_failure(MPIX_Tide_pipeline_grads(p, 3, list, &there), {unsupported}, {"stream"});
  expect_failure(MPIX_Tide_pipeline_reduce(p, 3, 0, 1, 1, &there), {unsupported}, {"stream"});
  expect_failure(MPIX_Tide_pipeline_release(p, 3, &there), {unsupported}, {"stream"});
  expect_failure(MPIX_Tide_pipeline_finish(p, &there), {unsupported}, {"stream"});
}

TEST_F(PipelineErrors, Bind) {
  Maker m(2);
  TIDE_OK(m.make());
  void* list[8] = {};
  expect_failure(MPIX_Tide_pipeline_bind(m.pipeline, 0, MPIX_TIDE_IN_PLACE, list), {arg},
                 {"layer 0", "MPIX_TIDE_IN_PLACE"});
  expect_failure(MPIX_Tide_pipeline_bind(m.pipeline, 0, nullptr, list), {arg}, {"shards is NULL"});
  expect_failure(MPIX_Tide_pipeline_bind(m.pipeline, 0, MPIX_TIDE_INPUTS(list), nullptr), {arg},
                 {"grad_shards is NULL", "MPIX_TIDE_LAYER_FROZEN"});
  expect_failure_on_all(world(), MPIX_Tide_pipeline_begin(m.pipeline, 0, nullptr), {request},
                        {"layer 0 has no shards", "MPIX_Tide_pipeline_bind"});
  TIDE_OK(MPIX_Tide_pipeline_free(&m.pipeline));
}

// One rank's wrong pointer is every rank's error, where the gather is awaited; finish clears up.
TEST_F(PipelineErrors, AGatherThatFails) {
  Maker m(2);
  TIDE_OK(m.make());
  const Team& w = world();
  std::vector<std::unique_ptr<Pieces>> shards, sums;
  for (int l = 0; l < 2; l++) {
    shards.push_back(std::make_unique<Pieces>(w, Memory::tide, m.lists[size_t(l)]->shard_bytes()));
    sums.push_back(std::make_unique<Pieces>(w, Memory::tide, m.lists[size_t(l)]->shard_bytes()));
    std::vector<void*> in(shards.back()->list(), shards.back()->list() + shards.back()->count());
    if (l == 1 && w.rank == 0) in[3] = nullptr;
    TIDE_OK(
        MPIX_Tide_pipeline_bind(m.pipeline, l, MPIX_TIDE_INPUTS(in.data()), sums.back()->list()));
  }
  void* list[8] = {};
  for (int step = 0; step < 2; step++) {
    TIDE_OK(MPIX_Tide_pipeline_begin(m.pipeline, 0, nullptr));
    TIDE_OK(MPIX_Tide_pipeline_gather(m.pipeline, 0, list, nullptr));
    TIDE_OK(MPIX_Tide_pipeline_release(m.pipeline, 0, nullptr));
    const std::initializer_list<std::string> words = {"rank 0", "parameter 3", "NULL"};
    expect_failure_on_all(w, MPIX_Tide_pipeline_gather(m.pipeline, 1, list, nullptr), {buffer},
                          words);
    expect_failure(MPIX_Tide_pipeline_release(m.pipeline, 1, nullptr), {buffer}, words);
    expect_failure(MPIX_Tide_pipeline_gather(m.pipeline, 0, list, nullptr), {buffer}, words);
    expect_failure_on_all(w, MPIX_Tide_pipeline_finish(m.pipeline, nullptr), {buffer}, words);
    expect_failure(MPIX_Tide_pipeline_finish(m.pipeline, nullptr), {request},
                   {"expected is MPIX_Tide_pipeline_begin"});
    expect_usable(w);
  }
  TIDE_OK(MPIX_Tide_pipeline_free(&m.pipeline));
}

TEST_F(PipelineErrors, AReductionThatFails) {
  for (int mode : {MPIX_TIDE_IN_PLACE_MODE, MPIX_TIDE_SLOT_REUSE_MODE}) {
    Plan plan;
    plan.mode = mode;
    Training t(world(), plan);
    t.micro_batch();
    t.new_shards();
    TIDE_OK(t.begin());
    for (int v = 0; v < t.visits(); v++) {
      Reduction r;
      if (v == 5 && world().rank == world().size - 1) r.op = 77;
      t.visit(v, r);
    }
    expect_failure_on_all(world(), MPIX_Tide_pipeline_finish(t.pipeline, nullptr), {arg}, {"op"});
    expect_usable(world());
  }
}

TEST_F(PipelineFree, WhileOperationsAreUnderWay) {
  for (int mode : {MPIX_TIDE_IN_PLACE_MODE, MPIX_TIDE_SLOT_REUSE_MODE})
    for (int stop = 0; stop <= 8; stop++) {
      Plan plan;
      plan.mode = mode;
      plan.prefetch = 2;
      Training t(world(), plan);
      t.new_shards();
      TIDE_OK(t.begin());
      for (int v = 0; v < stop; v++) t.visit(v, {});
      TIDE_OK(MPIX_Tide_pipeline_free(&t.pipeline));
      expect_usable(world());  // drives what is left to its end
    }
}

TEST_F(PipelineFree, GroupsFirst) {
  Training t(world(), Plan());
  t.micro_batch();
  t.new_shards();
  for (auto& list : t.lists) {
    MPIX_Tide_group group = list->group();
    TIDE_OK(MPIX_Tide_group_free(&group));
    list->forget_group();
  }
  TIDE_OK(t.begin());
  for (int v = 0; v < t.visits(); v++) t.visit(v, {});
  TIDE_OK(MPIX_Tide_pipeline_finish(t.pipeline, nullptr));
}

TEST_F(PipelineFree, CommunicatorFirst) {
  Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  Training t(team, Plan());
  t.micro_batch();
  t.new_shards();
  comm.free();
  TIDE_OK(t.begin());
  for (int v = 0; v < t.visits(); v++) t.visit(v, {});
  TIDE_OK(MPIX_Tide_pipeline_finish(t.pipeline, nullptr));
  t.expect_results({});
}

// Left to MPI_Finalize, in the middle of a micro-batch that ended its last operation.
TEST_F(PipelineFree, LeftAlive) {
  auto* t = new Training(world(), Plan());
  t->micro_batch();
  t->pipeline = MPIX_TIDE_PIPELINE_NULL;
  delete t;
}

}  // namespace
}  // namespace tide_test
