// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/host/host.hpp"

#include <algorithm>

#include "core/log.hpp"

namespace tide {

// After this much copying or summing a lane lets the others go on: a long copy must not stall the
// rail.
constexpr size_t slice_bytes = size_t{256} << 10;

static size_t line_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

size_t region_start(const Workspace& w, Buffer buffer) {
  if (buffer == Buffer::stage) return 0;
  if (buffer == Buffer::landing) return line_up(w.stage);
  return line_up(w.stage) + line_up(w.landing);
}

size_t workspace_bytes(const Workspace& w) {
  return region_start(w, Buffer::partial) + line_up(w.partial);
}

void HostBackend::before_entry(Work& work) {
  for (const Copy& c : work.plan->before_entry) copy(work, c, c.interval);
  fence();
}

bool HostBackend::advance(Work& work, Lane lane) {
  const auto& ops = work.plan->lanes[static_cast<size_t>(lane)];
  Cursor& cursor = work.lanes[static_cast<size_t>(lane)];
  bool moved = false;
  if (lane == Lane::rail && !work.after_puts.empty()) flush_signals(work);
  for (size_t budget = slice_bytes; cursor.op < ops.size() && budget > 0; moved = true)
    if (!step(work, lane, ops[cursor.op], cursor, budget)) break;
  return moved;
}

bool HostBackend::carry_out(Work& work, Lane, const Op& op, Cursor& cursor, size_t& budget) {
  const auto slice = [&](const Interval& whole, auto&& act) {
    Interval part{whole.rank, whole.begin + cursor.offset, whole.end};
    if (part.size() > budget) {
      const size_t cut = work.layout->align_down(whole.rank, part.begin + budget);
      if (cut > part.begin) part.end = cut;
    }
    try {
      act(part);
    } catch (const std::exception& e) {  // of foreign memory; peers count on our signals: go on
      if (!work.failed) log(Level::error, e.what());
      work.failed = true;
    }
    budget -= std::min(budget, part.size());
    cursor.offset += part.size();
    if (part.end == whole.end) cursor = {cursor.op + 1, 0};
  };
  if (const auto* c = std::get_if<Copy>(&op))
    slice(c->interval, [&](Interval v) { copy(work, *c, v); });
  else if (const auto* s = std::get_if<Sum>(&op))
    slice(s->interval, [&](Interval v) { sum(work, *s, v); });
  else if (const auto* w = std::get_if<SwitchSum>(&op))
    slice(w->interval, [&](Interval v) { sum(work, as_sum(*w), v); });
  return true;
}

// One operation, or a slice of it; false if it must wait.
bool HostBackend::step(Work& work, Lane lane, const Op& op, Cursor& cursor, size_t& budget) {
  if (const auto* w = std::get_if<Wait>(&op)) {
    if (!holds(work, *w)) return false;
  } else if (const auto* p = std::get_if<Put>(&op)) {
    if (!settled(work, lane) || !put(work, *p)) return false;
  } else if (const auto* s = std::get_if<Signal>(&op)) {
    if (!settled(work, lane)) return false;
    if (lane != Lane::rail || !work.rail || !reports_puts(s->index) ||
        work.rail->puts_complete(work.slot) == work.puts)
      deliver(work, *s);
    else
      work.after_puts.emplace_back(work.puts, *s);
  } else {
    return carry_out(work, lane, op, cursor, budget);
  }
  cursor = {cursor.op + 1, 0};
  return true;
}

// Own reads end with a place in each lane; peers tell theirs by a signal for which each rank waits
// at the end of its plan.
bool HostBackend::inputs_read(Work& work) {
  for (size_t lane = 0; lane < lane_count; lane++)
    if (work.lanes[lane].op < work.plan->inputs[lane] || !settled(work, static_cast<Lane>(lane)))
      return false;
  if (!work.plan->tells_inputs_read) return true;
  for (int l = 0; l < node_.size(); l++)
    if (!node_.signalled(work.slot, work.call, l, tide::inputs_read, 1)) return false;
  return true;
}

void HostBackend::flush_signals(Work& work) {
  const size_t complete = work.rail->puts_complete(work.slot);
  size_t flushed = 0;
  while (flushed < work.after_puts.size() && work.after_puts[flushed].first <= complete)
    deliver(work, work.after_puts[flushed++].second);
  work.after_puts.erase(work.after_puts.begin(),
                        work.after_puts.begin() + static_cast<long>(flushed));
}

void HostBackend::deliver(Work& work, const Signal& signal) {
  const Topology& t = *work.topology;
  fence();  // non-temporal stores before the word that announces them
  if (t.node(signal.peer) != t.node(work.rank)) {
    if (signal.opens) {
      const Region& r = signal.opens->region;
      work.rail->open(work.slot, signal.peer, *signal.opens,
                      work.addresses.workspace[node_.local_rank()] +
                          region_start(work.plan->places, r.buffer) + r.offset);
    }
    work.rail->signal(work.slot, signal.peer, signal.index);
    return;
  }
  const int to = t.local(signal.peer);
  const uint64_t count = ++work.sent[static_cast<size_t>(to) * index_count + signal.index];
  node_.signal(work.slot, work.call, to, signal.index, count);
}

bool HostBackend::holds(Work& work, const Wait& wait) {
  const Topology& t = *work.topology;
  if (t.node(wait.peer) != t.node(work.rank))
    return work.rail->arrived(work.slot, wait.peer, wait.index, wait.until);
  return node_.signalled(work.slot, work.call, t.local(wait.peer), wait.index, wait.until);
}

bool HostBackend::put(Work& work, const Put& put) {
  if (!work.rail->may_put(work.slot, put.bytes, work.inflight_bytes)) return false;
  const int me = node_.local_rank();
  const char* source = work.addresses.workspace[me] +
                       region_start(work.plan->places, put.src.buffer) + put.src.offset;
  work.rail->put(work.slot, put, source);
  work.puts++;
  return true;
}

}  // namespace tide
