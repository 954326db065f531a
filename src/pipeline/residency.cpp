// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline/residency.hpp"

#include <algorithm>

namespace tide {
namespace {

Residency of_params(const PipelineShape& shape, int layer, int first, int last) {
  Residency r;
  r.layer = layer;
  r.first = first;
  r.last = last;
  r.from = shape.prefetch == 0      ? starts(first)
           : first < shape.prefetch ? before_visits
                                    : starts(first - shape.prefetch);
  r.to_params = r.to_grads = ends(last);
  r.bytes = shape.layers[static_cast<size_t>(layer)].param_bytes;
  return r;
}

// Read until the end of the next visit, unless others wait for that.  The gathers that the next
// visit starts may come sooner in any case: they enter when the reads are over.
Residency of_grads(const PipelineShape& shape, const SlotRules& rules, int layer, int first,
                   int last) {
  Residency r;
  r.layer = layer;
  r.grads = true;
  r.first = first;
  r.last = last;
  r.bytes = shape.layers[static_cast<size_t>(layer)].grad_bytes;
  if (shape.accumulate) {  // for good
    r.from = before_visits;
    r.to_params = r.to_grads = INT_MAX;
    return r;
  }
  r.from = wants_grads(first);
  const bool wait = rules.wait_reads || (rules.one_pool && shape.prefetch == 0);
  r.to_grads = wait ? starts(last + 1) + 1 : ends(last + 1);
  r.to_params = starts(last + 1) + (shape.prefetch == 0);
  return r;
}

}  // namespace

std::vector<Residency> residencies(const PipelineShape& shape, const SlotRules& rules) {
  const int apart = std::max(1, shape.prefetch);
  std::vector<Residency> all;
  for (int layer = 0; layer < static_cast<int>(shape.layers.size()); layer++) {
    int first = -1, last = -1, first_grads = -1;
    for (int v = 0; v < shape.visits(); v++) {
      if (shape.layer(v) != layer) continue;
      if (first >= 0 && v - last > apart && !shape.keeps(layer)) {
        all.push_back(of_params(shape, layer, first, last));
        first = v;
      }
      if (first < 0) first = v;
      last = v;
      if (shape.is_backward(v) && first_grads < 0) first_grads = v;
    }
    if (first >= 0) all.push_back(of_params(shape, layer, first, last));
    if (first_grads >= 0 && !shape.layers[static_cast<size_t>(layer)].frozen)
      all.push_back(of_grads(shape, rules, layer, first_grads, last));
  }
  return all;
}

}  // namespace tide
