// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/cuda/backend.hpp"

#include <algorithm>

#include "core/clock.hpp"

namespace tide {

// Of a group and collective: eight sets of addresses, each with both slots of the workspace, so
// that pools of buffers do not rebind.
constexpr size_t bindings_kept = 16;

CudaBackend::CudaBackend(const Node& node, int device)
    : HostBackend(node), device_(device), copy_(device), sum_(device), beside_(device) {}

// Of an interval: with a cap so many that each lands in about half a millisecond.
static std::vector<Interval> parts(const Work& work, const Copy& op) {
  const Interval& whole = op.interval;
  if (work.landing_bytes_per_s <= 0 || op.dst.buffer != Buffer::param) return {whole};
  const int places = work.topology->size(work.topology->node(work.rank));
  const auto bytes = static_cast<size_t>(work.landing_bytes_per_s / 2000 / places);
  std::vector<Interval> result;
  for (size_t begin = whole.begin; begin < whole.end;) {
    size_t end = std::min(whole.end, begin + std::max(bytes, size_t{64} << 10));
    if (end < whole.end) end = work.layout->align_down(whole.rank, end);
    result.push_back({whole.rank, begin, end});
    begin = end;
  }
  return result;
}

// What fits the call's plan and addresses, from earlier calls or new.
const gpu::Binding& CudaBackend::binding(Work& work) {
  Slot& slot = slots_[static_cast<size_t>(work.slot)];
  if (slot.call == work.call && slot.binding->plan == work.plan) return *slot.binding;
  slot = {work.call, nullptr, {}};
  auto& kept = *work.bindings;
  const auto use = [&](size_t k) -> const gpu::Binding& {
    std::rotate(kept.begin() + static_cast<long>(k), kept.begin() + static_cast<long>(k) + 1,
                kept.end());
    slot.binding = kept.back();
    return *slot.binding;
  };
  std::vector<const void*> addresses = gpu::addresses_of(work);
  for (size_t k = 0; k < kept.size(); k++)
    if (kept[k]->plan == work.plan && kept[k]->addresses == addresses) return use(k);
  auto made = std::make_shared<gpu::Binding>();
  made->plan = work.plan;
  made->addresses = std::move(addresses);
  const int me = node().local_rank();
  for (Lane lane : {Lane::copy, Lane::rail, Lane::sum}) {
    const auto& ops = work.plan->lanes[static_cast<size_t>(lane)];
    auto& lowered = made->lanes[static_cast<size_t>(lane)];
    lowered.resize(ops.size());
    for (size_t i = 0; i < ops.size(); i++) {
      if (const auto* c = std::get_if<Copy>(&ops[i]))
        for (const Interval& part : parts(work, *c))
          lowered[i].push_back(gpu::lower(work, me, *c, part, device_, stream(lane)));
      else if (const auto* s = std::get_if<Sum>(&ops[i]))
        lowered[i].push_back(gpu::lower(work, *s, stream(lane)));
      else if (const auto* w = std::get_if<SwitchSum>(&ops[i]))
        lowered[i].push_back(gpu::lower(work, as_sum(*w), stream(lane)));
      for (const gpu::Lowered& part : lowered[i])
        made->kernels_land |= part.landing != nullptr || !part.roundings.empty();
    }
  }
  kept.push_back(std::move(made));
  if (kept.size() > bindings_kept) kept.erase(kept.begin());
  return use(kept.size() - 1);
}

// Operations of a lane come one after the other; inside one, copy engines and kernels work at once.
void CudaBackend::run(const Work& work, const gpu::Lowered& lowered, gpu::Stream& stream) {
  bool both = lowered.copies && (lowered.landing || !lowered.roundings.empty());
  if (both) {
    beside_.follow(stream);
    beside_.run(*lowered.copies, {}, 1);
  } else if (lowered.copies) {
    stream.run(*lowered.copies, {}, 1);
  }
  if (lowered.landing) stream.run(*lowered.landing, {}, work.landing_ctas);
  for (const auto& [landing, spread] : lowered.roundings) {
    stream.run(*landing, {}, work.landing_ctas);
    if (!spread) continue;
    both = true;
    beside_.follow(stream);
    beside_.run(*spread, {}, 1);
  }
  for (const auto& zeros : lowered.zeros) stream.run(*zeros, {}, work.sum_ctas);
  for (const auto& sum : lowered.sums) stream.run(*sum, work.arithmetic, work.sum_ctas);
  if (both) stream.follow(beside_);
}

void CudaBackend::before_entry(Work& work) {
  if (work.plan->before_entry.empty()) return;
  const gpu::Use use(device_);
  std::vector<gpu::Lowered> few;  // bytes: not worth keeping
  for (const Copy& c : work.plan->before_entry) {
    few.push_back(gpu::lower(work, node().local_rank(), c, c.interval, device_, copy_));
    run(work, few.back(), copy_);
  }
  copy_.drain();
}

// The cursor's offset counts parts.
bool CudaBackend::carry_out(Work& work, Lane lane, const Op& op, Cursor& cursor, size_t& budget) {
  const auto* copy = std::get_if<Copy>(&op);
  const bool capped = work.landing_bytes_per_s > 0 && copy && copy->dst.buffer == Buffer::param;
  if (capped && now_s() < land_again_s_) return false;
  const gpu::Use use(device_);
  const auto& parts = binding(work).lanes[static_cast<size_t>(lane)][cursor.op];
  if (cursor.offset < parts.size()) {
    const gpu::Lowered& part = parts[cursor.offset++];
    run(work, part, stream(lane));
    slots_[static_cast<size_t>(work.slot)].issued[static_cast<size_t>(lane)] = stream(lane).mark();
    if (capped)
      land_again_s_ = std::max(land_again_s_, now_s()) +
                      static_cast<double>(part.stored_bytes) / work.landing_bytes_per_s;
  }
  if (cursor.offset >= parts.size()) cursor = {cursor.op + 1, 0};
  budget -= std::min(budget, size_t{64} << 10);  // issuing costs the same, however much it moves
  return true;
}

bool CudaBackend::settled(Work& work, Lane lane) {
  Slot& slot = slots_[static_cast<size_t>(work.slot)];
  uint64_t& issued = slot.issued[static_cast<size_t>(lane)];
  if (slot.call != work.call || issued == 0) return true;
  const gpu::Use use(device_);
  if (!stream(lane).reached(issued)) return false;
  issued = 0;
  return true;
}

}  // namespace tide
