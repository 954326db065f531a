// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Schedules that were spoiled: the proof must refuse them.
#include "pipelines.hpp"

namespace tide::test {
namespace {

std::vector<std::vector<Step>*> calls_of(Schedule& s) {
  std::vector<std::vector<Step>*> calls = {&s.begin};
  for (Visit& visit : s.visits)
    for (auto* call : {&visit.gather, &visit.grads, &visit.reduce}) calls.push_back(call);
  calls.push_back(&s.finish);
  return calls;
}

// act on each step of a copy; whatever it makes of it must be refused.
void each_step(const PipelineShape& shape,
               const std::function<bool(Schedule&, size_t call, size_t step)>& act, int& refused) {
  const Schedule good = make_schedule(shape);
  ASSERT_TRUE(holds(shape, good)) << name(shape);
  Schedule counted = good;
  const auto calls = calls_of(counted);
  for (size_t c = 0; c < calls.size(); c++)
    for (size_t i = 0; i < calls[c]->size(); i++) {
      Schedule spoiled = good;
      if (!act(spoiled, c, i)) continue;
      EXPECT_FALSE(holds(shape, spoiled)) << name(shape) << ": call " << c << ", step " << i;
      refused++;
    }
}

std::vector<PipelineShape> shapes() {
  std::vector<PipelineShape> all;
  for (const Sizes sizes : {Sizes::even, Sizes::growing, Sizes::wide_grads})
    in_all_ways(shape_of(4, sizes, PipelineMode::in_place, 0),
                [&](const PipelineShape& shape) { all.push_back(shape); });
  in_all_ways(shape_of(9, Sizes::even, PipelineMode::in_place, 0),
              [&](const PipelineShape& shape) { all.push_back(shape); });
  PipelineShape tied = shape_of(3, Sizes::falling, PipelineMode::in_place, 0);
  tied.forward = {0, 1, 2, 1, 2, 0};
  tied.backward = {0, 2, 1, 2, 1, 0};
  tied.layers[1].keep = true;
  tied.layers[2].frozen = true;
  in_all_ways(tied, [&](const PipelineShape& shape) { all.push_back(shape); });
  return all;
}

// wait_read in an accumulating schedule does not occur; a dropped one lets gradients be cleared
// while they are read.
TEST(PipelineMutation, EveryStepIsNeeded) {
  int refused = 0;
  for (const PipelineShape& shape : shapes())
    each_step(
        shape,
        [](Schedule& s, size_t c, size_t i) {
          auto& call = *calls_of(s)[c];
          call.erase(call.begin() + static_cast<long>(i));
          return true;
        },
        refused);
  EXPECT_GT(refused, 1000);
}

TEST(PipelineMutation, NoStepMayBeDoneTwice) {
  int refused = 0;
  for (const PipelineShape& shape : shapes())
    each_step(
        shape,
        [&](Schedule& s, size_t c, size_t i) {
          auto& call = *calls_of(s)[c];
          const Step step = call[i];
          if (step.what == Step::What::wait_read) return false;  // twice does no harm
          if (step.what == Step::What::clear && shape.accumulate) return false;
          call.push_back(step);
          return true;
        },
        refused);
  EXPECT_GT(refused, 1000);
}

TEST(PipelineMutation, AGatherWaitsForTheReadsInItsSlot) {
  int refused = 0;
  for (const PipelineShape& shape : shapes())
    each_step(
        shape,
        [](Schedule& s, size_t c, size_t i) {
          Step& step = (*calls_of(s)[c])[i];
          if (step.after < 0) return false;
          step.after = -1;
          return true;
        },
        refused);
  EXPECT_GT(refused, 10);
}

// Into another slot: the visits look for it in theirs.
TEST(PipelineMutation, SlotsAreThoseOfTheVisits) {
  int refused = 0;
  for (const PipelineShape& shape : shapes())
    each_step(
        shape,
        [](Schedule& s, size_t c, size_t i) {
          Step& step = (*calls_of(s)[c])[i];
          if (step.slot < 0) return false;
          step.slot = (step.slot + 1) % static_cast<int>(s.slots.size() + 1);
          return true;
        },
        refused);
  EXPECT_GT(refused, 500);
}

TEST(PipelineMutation, SlotsAreAsLargeAsTheirLargest) {
  for (const PipelineShape& shape : shapes()) {
    const Schedule good = make_schedule(shape);
    for (size_t i = 0; i < good.slots.size(); i++) {
      Schedule spoiled = good;
      spoiled.slots[i].bytes--;
      (spoiled.param_bytes ? spoiled.param_bytes : spoiled.grad_bytes)--;
      EXPECT_FALSE(holds(shape, spoiled)) << name(shape) << ": slot " << i;
    }
  }
}

// One slot of a kind fewer: what is live is overwritten.
TEST(PipelineMutation, TwoSlotsInOne) {
  int refused = 0;
  for (const PipelineShape& shape : shapes()) {
    const Schedule good = make_schedule(shape);
    for (int a = 0; a < static_cast<int>(good.slots.size()); a++)
      for (int b = 0; b < a; b++) {
        const Slot &one = good.slots[static_cast<size_t>(a)],
                   &other = good.slots[static_cast<size_t>(b)];
        if (one.params != other.params || one.grads != other.grads) continue;
        Schedule spoiled = good;
        refused++;
        const auto move = [&](int& slot) {
          if (slot == a) slot = b;
        };
        auto& into = spoiled.slots[static_cast<size_t>(b)].bytes;
        into = std::max(into, spoiled.slots[static_cast<size_t>(a)].bytes);
        for (auto* call : calls_of(spoiled))
          for (Step& step : *call) move(step.slot);
        for (Visit& visit : spoiled.visits) move(visit.param_slot), move(visit.grad_slot);
        spoiled.slots[static_cast<size_t>(a)].bytes = 0;
        spoiled.param_bytes = spoiled.grad_bytes = 0;
        for (const Slot& slot : spoiled.slots) spoiled.param_bytes += slot.bytes;
        EXPECT_FALSE(holds(shape, spoiled)) << name(shape) << ": " << a << " in " << b;
      }
  }
  EXPECT_GT(refused, 100);
}

// A gather that is started a call earlier than its slot is free.
TEST(PipelineMutation, NoGatherIntoLiveStorage) {
  int refused = 0;
  for (const PipelineMode mode : {PipelineMode::in_place, PipelineMode::slot_reuse})
    for (int prefetch = 0; prefetch <= 2; prefetch++) {
      const PipelineShape shape = shape_of(6, Sizes::even, mode, prefetch);
      each_step(
          shape,
          [&](Schedule& s, size_t c, size_t i) {
            const Step step = (*calls_of(s)[c])[i];
            // Its slot was vacated by the visit before, but for the one that begin or the
            // neighbouring visits of the last layer left empty.
            if (step.what != Step::What::gather || c < 3 * static_cast<size_t>(prefetch) + 4 ||
                c == 3 * shape.forward.size() + 1)
              return false;
            auto& earlier = *calls_of(s)[c - 3];
            auto& call = *calls_of(s)[c];
            call.erase(call.begin() + static_cast<long>(i));
            earlier.insert(earlier.begin(), step);
            return true;
          },
          refused);
    }
  EXPECT_GT(refused, 30);
}

TEST(PipelineMutation, ReleasingTooSoonOrNeverIsSeen) {
  for (const PipelineShape& shape : shapes()) {
    const Schedule good = make_schedule(shape);
    for (size_t v = 0; v < good.visits.size(); v++) {
      Schedule spoiled = good;
      spoiled.visits[v].vacates = !good.visits[v].vacates;
      EXPECT_FALSE(holds(shape, spoiled)) << name(shape) << ": visit " << v;
    }
  }
}

}  // namespace
}  // namespace tide::test
