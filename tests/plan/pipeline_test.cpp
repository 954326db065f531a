// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Schedules of training steps: every small shape is proved, and their bytes are what is promised.
#include <random>

#include "pipelines.hpp"

namespace tide::test {
namespace {

TEST(PipelineSweep, EveryModeDepthAndFlag) {
  for (int layers = 1; layers <= 4; layers++)
    for (const Sizes sizes : all_sizes)
      for (int flags = 0; flags < 1 << (2 * layers); flags++) {
        if (layers == 4 && sizes != Sizes::even) continue;
        PipelineShape shape = shape_of(layers, sizes, PipelineMode::in_place, 0);
        for (size_t l = 0; l < shape.layers.size(); l++) {
          shape.layers[l].keep = flags >> (2 * l) & 1;
          shape.layers[l].frozen = flags >> (2 * l) & 2;
        }
        in_all_ways(shape, expect_holds);
        ASSERT_FALSE(HasFailure());
      }
}

// All forward lists of up to four visits of three layers; backward in reverse, in the same order, a
// part of it, or none.
TEST(PipelineSweep, EveryListOfVisits) {
  for (int length = 1; length <= 4; length++) {
    int lists = 1;
    for (int i = 0; i < length; i++) lists *= 3;
    for (int code = 0; code < lists; code++) {
      PipelineShape shape = shape_of(3, Sizes::growing, PipelineMode::in_place, 0);
      shape.forward.clear();
      for (int rest = code, i = 0; i < length; i++, rest /= 3) shape.forward.push_back(rest % 3);
      const std::vector<int> reverse(shape.forward.rbegin(), shape.forward.rend());
      const std::vector<int> half(reverse.begin(), reverse.begin() + length / 2);
      for (const auto& backward : {reverse, shape.forward, half, std::vector<int>()}) {
        shape.backward = backward;
        in_all_ways(shape, expect_holds);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST(PipelineSweep, RandomLongLists) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; round++) {
    PipelineShape shape = shape_of(1 + static_cast<int>(random() % 12), Sizes::even,
                                   random() % 2 ? PipelineMode::in_place : PipelineMode::slot_reuse,
                                   static_cast<int>(random() % 6), random() % 4 != 0);
    for (LayerShape& l : shape.layers)
      l = {static_cast<int64_t>(random() % 9 * 64), static_cast<int64_t>(random() % 9 * 64),
           random() % 6 == 0, random() % 6 == 0};
    shape.accumulate = random() % 4 == 0;
    for (auto* list : {&shape.forward, &shape.backward}) {
      list->clear();
      for (size_t visits = random() % 20; list->size() < visits;)
        list->push_back(static_cast<int>(random() % shape.layers.size()));
    }
    expect_holds(shape);
    ASSERT_FALSE(HasFailure());
  }
}

// One of parameters and one of gradients live; prefetched ones, and In-Place the gradients that are
// read, come on top.  Slot-Reuse has no second gradient.
TEST(PipelineBytes, EvenLayers) {
  for (int prefetch = 0; prefetch <= 3; prefetch++)
    for (const Sizes sizes : {Sizes::even, Sizes::wide_grads}) {
      const int64_t grad = sizes == Sizes::even ? 64 : 128;
      const auto of = [&](PipelineMode mode) {
        return make_schedule(shape_of(8, sizes, mode, prefetch));
      };
      const Schedule in_place = of(PipelineMode::in_place), reuse = of(PipelineMode::slot_reuse);
      EXPECT_EQ((prefetch + 1) * 64, in_place.param_bytes) << prefetch;
      EXPECT_EQ(2 * grad, in_place.grad_bytes) << prefetch;
      EXPECT_EQ((prefetch + 1) * 64, reuse.param_bytes) << prefetch;
      EXPECT_EQ(grad, reuse.grad_bytes) << prefetch;
    }
}

// In rotation nothing but a gather waits for reads, and it does so by itself.
TEST(PipelineBytes, RotationWaitsForNoReadInGrads) {
  const Schedule s = make_schedule(shape_of(8, Sizes::even, PipelineMode::slot_reuse, 1));
  EXPECT_EQ(3U, s.slots.size());
  int gated = 0;
  for (const Visit& visit : s.visits) {
    for (const Step& step : visit.grads) EXPECT_NE(Step::What::wait_read, step.what);
    for (const Step& step : visit.gather) gated += step.after >= 0;
  }
  EXPECT_EQ(6, gated);  // visits 9 to 14 of 16 start gathers where gradients were
}

// Beyond the largest layer's parameters and gradients: two of it at the most, however uneven.
TEST(PipelineBytes, AtMostTwoOfTheLargestLayerOnTop) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; round++)
    for (const PipelineMode mode : {PipelineMode::in_place, PipelineMode::slot_reuse}) {
      PipelineShape shape = shape_of(2 + static_cast<int>(random() % 20), Sizes::even, mode, 1);
      int64_t largest = 0;
      for (LayerShape& l : shape.layers) {
        l.param_bytes = l.grad_bytes = static_cast<int64_t>(64 * (1 + random() % 50));
        largest = std::max(largest, l.param_bytes);
      }
      const int64_t most = mode == PipelineMode::in_place ? 4 : 3;
      EXPECT_LE(make_schedule(shape).total_bytes(), most * largest) << name(shape);
    }
}

TEST(PipelineBytes, KeptAndAccumulatedLayersHaveTheirOwn) {
  PipelineShape shape = shape_of(5, Sizes::even, PipelineMode::in_place, 1, false);
  EXPECT_EQ(5 * 64, make_schedule(shape).param_bytes);
  EXPECT_EQ(2 * 64, make_schedule(shape).grad_bytes);
  shape.accumulate = true;
  EXPECT_EQ(5 * 64, make_schedule(shape).grad_bytes);
  shape.reshard_after_forward = true;
  shape.layers[0].keep = shape.layers[2].frozen = true;
  EXPECT_EQ(3 * 64, make_schedule(shape).param_bytes);
  EXPECT_EQ(4 * 64, make_schedule(shape).grad_bytes);
}

// The last layer's parameters stay for its backward visit, so it is gathered once.
TEST(PipelineBytes, NeighbouringVisitsShareAGather) {
  for (int prefetch = 0; prefetch <= 2; prefetch++) {
    const Schedule s = make_schedule(shape_of(4, Sizes::even, PipelineMode::in_place, prefetch));
    int gathers = 0;
    for (const Step& step : s.begin) gathers += step.what == Step::What::gather;
    for (const Visit& visit : s.visits)
      for (const Step& step : visit.gather) gathers += step.what == Step::What::gather;
    EXPECT_EQ(7, gathers) << prefetch;
  }
}

}  // namespace
}  // namespace tide::test
