// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Shapes of training steps for the tests of schedules.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/check_schedule.hpp"

namespace tide::test {

enum class Sizes { even, growing, falling, wide_grads, none };
constexpr Sizes all_sizes[] = {Sizes::even, Sizes::growing, Sizes::falling, Sizes::wide_grads,
                               Sizes::none};

inline PipelineShape shape_of(int layers, Sizes sizes, PipelineMode mode, int prefetch,
                              bool reshard = true) {
  PipelineShape shape;
  for (int l = 0; l < layers; l++) {
    LayerShape layer;
    if (sizes == Sizes::even || sizes == Sizes::wide_grads) layer.param_bytes = 64;
    if (sizes == Sizes::growing) layer.param_bytes = 64 << l;
    if (sizes == Sizes::falling) layer.param_bytes = 4096 >> l;
    layer.grad_bytes = layer.param_bytes * (sizes == Sizes::wide_grads ? 2 : 1);
    shape.layers.push_back(layer);
    shape.forward.push_back(l);
    shape.backward.insert(shape.backward.begin(), l);
  }
  shape.mode = mode;
  shape.prefetch = prefetch;
  shape.reshard_after_forward = reshard;
  return shape;
}

inline std::string name(const PipelineShape& s) {
  std::string text = s.mode == PipelineMode::in_place ? "in place" : "slot reuse";
  text += ", prefetch " + std::to_string(s.prefetch);
  if (!s.reshard_after_forward) text += ", keeps all";
  if (s.accumulate) text += ", accumulates";
  for (const LayerShape& l : s.layers)
    text +=
        " [" + std::to_string(l.param_bytes) + (l.keep ? "K" : "") + (l.frozen ? "F" : "") + "]";
  text += " visits";
  for (int v = 0; v < s.visits(); v++)
    text += (v == static_cast<int>(s.forward.size()) ? " | " : " ") + std::to_string(s.layer(v));
  return text;
}

// Both modes, prefetch 0 to 3, with and without resharding and accumulation.
inline void in_all_ways(PipelineShape shape, const std::function<void(const PipelineShape&)>& act) {
  for (const PipelineMode mode : {PipelineMode::in_place, PipelineMode::slot_reuse})
    for (int prefetch = 0; prefetch <= 3; prefetch++)
      for (const bool reshard : {true, false})
        for (const bool accumulate : {false, true}) {
          shape.mode = mode;
          shape.prefetch = prefetch;
          shape.reshard_after_forward = reshard;
          shape.accumulate = accumulate;
          act(shape);
        }
}

inline bool holds(const PipelineShape& shape, const Schedule& schedule) {
  try {
    check_schedule(shape, schedule);
    if (shape.accumulate) check_schedule(shape, schedule, {true, true, false, false, true, false});
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

inline void expect_holds(const PipelineShape& shape) {
  const Schedule schedule = make_schedule(shape);
  try {
    check_schedule(shape, schedule);
    if (shape.accumulate) check_schedule(shape, schedule, {true, true, false, false, true, false});
  } catch (const std::runtime_error& e) {
    ADD_FAILURE() << name(shape) << ": " << e.what();
  }
  PipelineShape in_place = shape;
  in_place.mode = PipelineMode::in_place;
  EXPECT_LE(schedule.total_bytes(), make_schedule(in_place).total_bytes()) << name(shape);
}

}  // namespace tide::test
