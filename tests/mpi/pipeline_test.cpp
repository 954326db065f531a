// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Training steps through a pipeline: bit by bit those of the plain calls, in every mode, on memory
// of the planned size.
#include <fstream>
#include <sstream>

#include "training.hpp"

namespace tide_test {
namespace {

constexpr int modes[] = {MPIX_TIDE_IN_PLACE_MODE, MPIX_TIDE_SLOT_REUSE_MODE};

Plan in_mode(int mode, int prefetch = 1, int layers = 4) {
  Plan plan;
  plan.mode = mode;
  plan.prefetch = prefetch;
  plan.layers = layers;
  return plan;
}

TEST(Pipeline, EveryModeAndDepth) {
  for (int mode : modes)
    for (int prefetch : {0, 1, 3})
      for (int reshard : {1, 0}) {
        Plan plan = in_mode(mode, prefetch, 5);
        plan.reshard = reshard;
        Training training(world(), plan);
        for (int step = 0; step < 2; step++) training.micro_batch();
      }
}

TEST(Pipeline, SlotsThatRotate) {
  for (int prefetch : {0, 1, 2}) {
    Plan plan = in_mode(MPIX_TIDE_SLOT_REUSE_MODE, prefetch, 7);
    plan.even = true;
    Training training(world(), plan);
    for (int step = 0; step < 3; step++) training.micro_batch();
  }
}

TEST(Pipeline, OneLayerAndADefaultMode) {
  Training training(world(), in_mode(0, 2, 1));
  for (int step = 0; step < 3; step++) training.micro_batch();
}

TEST(Pipeline, TiedAndRecurrentLayers) {
  for (int mode : modes)
    for (int prefetch : {0, 1, 2}) {
      Plan plan = in_mode(mode, prefetch, 3);
      plan.forward = {0, 1, 2, 1, 2, 2, 0};
      Training tied(world(), plan);
      for (int step = 0; step < 2; step++) tied.micro_batch();
      plan.backward = {0, 2, 1, 1, 2, 0};
      Training other(world(), plan);
      other.micro_batch();
    }
}

TEST(Pipeline, FrozenAndKeptLayers) {
  for (int mode : modes)
    for (int prefetch : {0, 1, 2}) {
      Plan plan = in_mode(mode, prefetch, 5);
      plan.flags = {MPIX_TIDE_LAYER_KEEP, MPIX_TIDE_LAYER_FROZEN, 0,
                    MPIX_TIDE_LAYER_KEEP | MPIX_TIDE_LAYER_FROZEN, 0};
      Training training(world(), plan);
      for (int step = 0; step < 2; step++) training.micro_batch();
    }
}

TEST(Pipeline, MicroBatchesAccumulateLocally) {
  for (int mode : modes) {
    Plan plan = in_mode(mode, 1, 3);
    plan.forward = {0, 1, 2, 0};
    Training training(world(), plan);
    training.micro_batch();
    for (bool no_sync : {true, true, false, false, true, false}) training.micro_batch(no_sync);
  }
}

// Beside it, accumulation of sums: another output type, scale and operation from step to step.
TEST(Pipeline, OperationScaleAndTypeMayChange) {
  for (int mode : modes) {
    Training training(world(), in_mode(mode));
    training.micro_batch(false, {0, MPIX_TIDE_AVG, 0.5});
    training.micro_batch(false, {MPIX_TIDE_FP32, MPIX_TIDE_SUM, 1.0 / 3});
    training.micro_batch(false, {MPIX_TIDE_FP32, MPIX_TIDE_AVG | MPIX_TIDE_ACCUMULATE, 2});
    training.micro_batch(false, {0, MPIX_TIDE_SUM, 1});
  }
}

TEST(Pipeline, EvaluationEndsAfterTheForwardVisits) {
  for (int mode : modes)
    for (int prefetch : {0, 2}) {
      Training training(world(), in_mode(mode, prefetch));
      training.evaluation();
      training.micro_batch();
      training.evaluation();
      training.evaluation();
      training.micro_batch();
      Plan only = in_mode(mode, prefetch);
      only.no_backward = true;
      Training inference(world(), only);
      for (int step = 0; step < 2; step++) inference.evaluation();
    }
}

TEST(Pipeline, ParametersOncePerNode) {
  const Info share{{"tide_share", "node"}};
  for (int prefetch : {0, 1, 2}) {
    Training training(world(), in_mode(MPIX_TIDE_IN_PLACE_MODE, prefetch), share);
    for (int step = 0; step < 3; step++) training.micro_batch();
    training.micro_batch(true);
    training.micro_batch();
  }
}

TEST(Pipeline, TwoOfThemAndPlainCallsBetweenTheirSteps) {
  Training a(world(), in_mode(modes[0])), b(world(), in_mode(modes[1], 2));
  a.new_shards();
  b.new_shards();
  TIDE_OK(a.begin());
  TIDE_OK(b.begin());
  for (int v = 0; v < a.visits(); v++) {
    a.visit(v, {});
    b.visit(v, {});
    if (v == 3) expect_usable(world());
  }
  TIDE_OK(MPIX_Tide_pipeline_finish(b.pipeline, nullptr));
  TIDE_OK(MPIX_Tide_pipeline_finish(a.pipeline, nullptr));
  a.expect_results({});
  b.expect_results({});
}

// What this process has mapped of Tide's memory; its pages are all there.
MPI_Count mapped_bytes() {
  std::ifstream in("/proc/self/maps");
  MPI_Count bytes = 0;
  for (std::string line; std::getline(in, line);) {
    unsigned long long from = 0, to = 0;
    if (line.find("memfd:") == std::string::npos) continue;
    if (std::sscanf(line.c_str(), "%llx-%llx", &from, &to) == 2)
      bytes += static_cast<MPI_Count>(to - from);
  }
  return bytes;
}

MPI_Count planned(const Training& t) {
  MPI_Count params = 0, grads = 0, workspace = 0;
  TIDE_OK(MPIX_Tide_pipeline_sizes(t.pipeline, &params, &grads, &workspace));
  TIDE_OK(MPIX_Tide_pipeline_sizes(t.pipeline, nullptr, nullptr, nullptr));
  for (const auto& list : t.lists) {
    MPIX_Tide_sizes sizes{};
    TIDE_OK(MPIX_Tide_group_sizes(list->group(), &sizes));
    EXPECT_GE(workspace, sizes.allgather_workspace_bytes);
    EXPECT_GE(workspace, sizes.reduce_scatter_workspace_bytes);
  }
  return params + grads;
}

// A rank maps its own slots and those of its node's other ranks; each of at most two allocations
// has a page of its own and is filled up to a page.
void expect_mapped(MPI_Count bytes, MPI_Count before, const char* what) {
  const auto& mates = world().members[static_cast<size_t>(world().my_node())];
  const auto ranks = static_cast<MPI_Count>(mates.size());
  const MPI_Count got = mapped_bytes() - before;
  EXPECT_GE(got, ranks * bytes) << what;
  EXPECT_LE(got, ranks * (bytes + 2 * 2 * 4096)) << what;
}

TEST(PipelineMemory, MeasuredPeakIsThePlan) {
  MPI_Count last = 0;
  for (int mode : {MPIX_TIDE_SLOT_REUSE_MODE, MPIX_TIDE_IN_PLACE_MODE}) {
    Training t(world(), in_mode(mode, 1, 6));
    t.new_shards();
    sync(world());
    const MPI_Count before = mapped_bytes(), plan = planned(t);
    EXPECT_GT(plan, last) << "Slot-Reuse takes less";
    last = plan;
    for (int step = 0; step < 2; step++) {
      t.micro_batch();
      expect_mapped(plan, before, "after a step");
      EXPECT_EQ(plan, planned(t));
    }
    t.micro_batch(true);
    const MPI_Count more = planned(t);
    EXPECT_GT(more, plan) << "gradients of all layers";
    t.micro_batch();
    sync(world());
    t.new_shards();  // peers let go of what was freed
    expect_mapped(more, before, "accumulating");
    TIDE_OK(MPIX_Tide_pipeline_free(&t.pipeline));
    EXPECT_EQ(MPIX_TIDE_PIPELINE_NULL, t.pipeline);
    sync(world());
    t.new_shards();
    expect_mapped(0, before, "freed");
  }
}

TEST(PipelineMemory, LayersWithoutParametersOrGradients) {
  const List empty(world(), {}),
      frozen(world(), {param(5, 3, MPIX_TIDE_FP32, types_of(MPIX_TIDE_FP32, MPIX_TIDE_NOGRAD))});
  const Pieces shards(world(), Memory::foreign, frozen.shard_bytes());
  write_shards(frozen, shards.list(), 3);
  const MPIX_Tide_group groups[] = {empty.group(), frozen.group()};
  MPIX_Tide_schedule schedule{};
  schedule.nlayers = 2;
  schedule.groups = groups;
  schedule.prefetch = 1;
  schedule.reshard_after_forward = 1;
  MPIX_Tide_pipeline pipeline = MPIX_TIDE_PIPELINE_NULL;
  TIDE_OK(MPIX_Tide_pipeline_create(&schedule, MPI_INFO_NULL, &pipeline));
  void* none[] = {nullptr};
  TIDE_OK(MPIX_Tide_pipeline_bind(pipeline, 0, nullptr, nullptr));
  TIDE_OK(MPIX_Tide_pipeline_bind(pipeline, 1, MPIX_TIDE_INPUTS(shards.list()), none));
  TIDE_OK(MPIX_Tide_pipeline_begin(pipeline, 0, nullptr));
  for (int layer : {0, 1, 1, 0}) {
    static int visit = 0;
    void *params[1] = {nullptr}, *grads[1] = {&visit};
    TIDE_OK(MPIX_Tide_pipeline_gather(pipeline, layer, params, nullptr));
    if (layer == 1) expect_gathered(frozen, params, 3, "without gradients");
    if (++visit > 2) {
      TIDE_OK(MPIX_Tide_pipeline_grads(pipeline, layer, grads, nullptr));
      if (layer == 1) {
        EXPECT_EQ(nullptr, grads[0]);
      }
      TIDE_OK(MPIX_Tide_pipeline_reduce(pipeline, layer, 0, MPIX_TIDE_SUM, 1, nullptr));
    }
    TIDE_OK(MPIX_Tide_pipeline_release(pipeline, layer, nullptr));
  }
  TIDE_OK(MPIX_Tide_pipeline_finish(pipeline, nullptr));
  TIDE_OK(MPIX_Tide_pipeline_free(&pipeline));
}

}  // namespace
}  // namespace tide_test
