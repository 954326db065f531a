// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline/schedule.hpp"

#include <algorithm>
#include <utility>

#include "pipeline/residency.hpp"

namespace tide {
namespace {

struct Assigned {
  std::vector<Residency> all;
  std::vector<Slot> slots;
  int64_t bytes() const {
    int64_t sum = 0;
    for (const Slot& slot : slots) sum += slot.bytes;
    return sum;
  }
};

Assigned assign(const PipelineShape& shape, const SlotRules& rules) {
  Assigned a{residencies(shape, rules), {}};
  a.slots = assign_slots(a.all, rules);
  std::stable_sort(a.all.begin(), a.all.end(), [](const Residency& x, const Residency& y) {
    return std::pair(x.from, x.first) < std::pair(y.from, y.first);
  });
  return a;
}

// Whom a slot is taken over from; null: nobody.
const Residency* before(const Assigned& a, const Residency& r) {
  const Residency* last = nullptr;
  for (const Residency& other : a.all)
    if (other.slot == r.slot && other.from < r.from && (!last || other.from > last->from))
      last = &other;
  return last;
}

Step gather(const Assigned& a, const Residency& r) {
  const Residency* left = before(a, r);
  return {Step::What::gather, r.layer, r.slot, left && left->grads ? left->layer : -1};
}

void emit_params(const PipelineShape& shape, const Assigned& a, const Residency& r, Schedule& s) {
  const int at = r.first - shape.prefetch;
  (at < 0 ? s.begin : s.visits[static_cast<size_t>(at)].gather).push_back(gather(a, r));
  for (int v = r.first; v <= r.last; v++)
    if (shape.layer(v) == r.layer) s.visits[static_cast<size_t>(v)].param_slot = r.slot;
  s.visits[static_cast<size_t>(r.last)].vacates = true;
}

void emit_grads(const PipelineShape& shape, const Assigned& a, const Residency& r, Schedule& s) {
  const Residency* left = before(a, r);
  auto& opens = s.visits[static_cast<size_t>(r.first)].grads;
  if (left && left->grads) opens.push_back({Step::What::wait_read, left->layer});
  opens.push_back({Step::What::clear, r.layer, r.slot});
  for (int v = r.first; v <= r.last; v++)
    if (shape.layer(v) == r.layer && shape.is_backward(v))
      s.visits[static_cast<size_t>(v)].grad_slot = r.slot;
  s.visits[static_cast<size_t>(r.last)].reduce.push_back({Step::What::reduce, r.layer, r.slot});
}

constexpr SlotRules in_place_rules = {.one_pool = false, .wait_reads = false};

// Rotation, unless that takes over a sixteenth more than gradients in slots of their own.
Assigned assign_reusing(const PipelineShape& shape) {
  Assigned rotation = assign(shape, {.one_pool = true, .wait_reads = false});
  Assigned apart = assign(shape, {.one_pool = false, .wait_reads = true});
  Assigned in_place = assign(shape, in_place_rules);
  Assigned& other = in_place.bytes() < apart.bytes() ? in_place : apart;
  const bool rotates = rotation.bytes() <= other.bytes() + other.bytes() / 16 &&
                       rotation.bytes() <= in_place.bytes();
  return rotates ? std::move(rotation) : std::move(other);
}

// By time: what a visit starts comes before what it waits for.
Schedule emit(const PipelineShape& shape, const Assigned& a) {
  Schedule s;
  s.slots = a.slots;
  for (int v = 0; v < shape.visits(); v++) {
    Visit visit;
    visit.layer = shape.layer(v);
    visit.backward = shape.is_backward(v);
    s.visits.push_back(visit);
  }
  for (const Residency& r : a.all)
    r.grads ? emit_grads(shape, a, r, s) : emit_params(shape, a, r, s);
  for (const Residency& r : a.all)
    if (!r.grads)
      s.visits[static_cast<size_t>(r.first)].gather.push_back({Step::What::wait_gather, r.layer});
  for (const Visit& visit : s.visits)
    for (const Step& step : visit.reduce) s.finish.push_back({Step::What::wait_reduce, step.layer});
  return s;
}

void count_bytes(const Assigned& a, Schedule& s) {
  for (const Residency& now : a.all) {
    if (now.grads) continue;
    int64_t bytes = 0;
    for (const Residency& r : a.all)
      if (!r.grads && r.from <= now.from && now.from < r.to_params)
        bytes += a.slots[static_cast<size_t>(r.slot)].bytes;
    s.param_bytes = std::max(s.param_bytes, bytes);
  }
  s.grad_bytes = a.bytes() - s.param_bytes;
}

}  // namespace

Schedule make_schedule(const PipelineShape& shape) {
  const bool reuse = shape.mode == PipelineMode::slot_reuse;
  const Assigned best = reuse ? assign_reusing(shape) : assign(shape, in_place_rules);
  Schedule s = emit(shape, best);
  count_bytes(best, s);
  if (!reuse) {  // what holds parameters is never anything else
    int64_t bytes = 0;
    for (const Slot& slot : s.slots) bytes += slot.params ? slot.bytes : 0;
    s.grad_bytes -= bytes - s.param_bytes;
    s.param_bytes = bytes;
  }
  return s;
}

}  // namespace tide
