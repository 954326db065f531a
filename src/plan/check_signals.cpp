// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Signals, puts on the wire, and what a rank has opened for them.
#include "plan/check_execution.hpp"

#include <algorithm>
#include <stdexcept>

namespace tide::proof {

Box& Execution::box(int to, int from, int index) {
  return boxes_[((static_cast<uint64_t>(to) * N) + from) * index_count + index];
}

bool Execution::granted_away(int index) const {
  return o_.two_sided && (index == granted || index == credit);
}

void Execution::count_signals() {
  std::map<Box*, uint64_t> until;
  std::map<std::pair<int, int>, int> put_index;
  auto sole = [&](int r, int& lane, int now, const char* what) {
    if (o_.balance && lane >= 0 && lane != now) fail(r, what);
    lane = now;
  };
  for (int r = 0; r < N; r++)
    for (int lane = 0; lane < lane_count; lane++) {
      ranks_[r].release[lane] = plans_[r].inputs[lane];
      for (size_t i = 0; i < plans_[r].lanes[lane].size(); i++) {
        const Op& op = plans_[r].lanes[lane][i];
        auto sends = [&](int peer, int index) {
          Box& b = box(peer, r, index);
          b.per_call++;
          sole(r, b.sends, lane, "two lanes send one signal");
        };
        if (auto* s = std::get_if<Signal>(&op)) sends(s->peer, s->index);
        if (auto* p = std::get_if<Put>(&op)) {
          sends(p->peer, p->signal);
          if (put_index.try_emplace({r, p->peer}, p->signal).first->second != p->signal)
            fail(r, "two put indices for one peer");
          if (t_.local(p->peer) != t_.local(r) || t_.node(p->peer) == t_.node(r))
            fail(r, "put off its rail");
          if (lane != rail_lane) fail(r, "put off the rail lane");
        }
        if (auto* w = std::get_if<Wait>(&op)) {
          if (w->index == inputs_read) ranks_[r].release[lane] = i + 1;
          Box& b = box(r, w->peer, w->index);
          until[&b] = std::max(until[&b], w->until);
          sole(r, b.waits, lane, "two lanes wait for one signal");
        }
        if (std::holds_alternative<SwitchSum>(op)) switched_ = true;
      }
    }
  for (auto& [key, b] : boxes_)
    if (o_.balance && b.per_call != (until.count(&b) ? until[&b] : 0))
      throw std::runtime_error("signal index " + std::to_string(key % index_count) +
                               ": sent and waited for differ");
  for (int call = 0; call < o_.calls; call++) expected_.push_back(expected(call));
}

void Execution::send(int r, int lane, Message m) {
  if (lane == rail_lane && (m.put || (reports_puts(m.index) && !ranks_[r].wire.empty()))) {
    ranks_[r].wire.push_back(std::move(m));
    queue(r * parts + wire);
  } else {
    arrive(r, m);
  }
}

void Execution::arrive(int from, const Message& m) {
  if (m.put) {  // the data move only now
    std::vector<Run> runs;
    object(m.put->src, {}).load(m.put->src.offset, m.put->src.offset + m.put->bytes, runs);
    size_t at = m.put->dst.offset;
    for (const Run& run : runs) {
      Memory& to = object(m.put->dst, {});
      if (o_.clocks) {  // cut by the grant: keep its epochs
        size_t inside = 0;
        to.each(at, at + run.bytes, [&](Range& x, size_t bytes) {
          x.value = Memory::shifted(run.value, inside);
          inside += bytes;
        });
      } else {
        to.store(at, at + run.bytes).value = run.value;
      }
      at += run.bytes;
    }
  }
  Box& b = box(m.to, from, m.index);
  b.count++;
  if (o_.clocks) b.clocks.push_back(m.clock);
  if (b.waiting >= 0) queue(std::exchange(b.waiting, -1));
}

bool Execution::deliver(int r) {
  auto& w = ranks_[r].wire;
  std::vector<size_t> able;  // the first put to each peer, up to the first signal
  std::vector<bool> seen(M);
  for (size_t i = 0; i < w.size(); i++) {
    if (!w[i].put) {
      if (i == 0) able.push_back(0);
      break;
    }
    const int m = t_.node(w[i].to);
    if (seen[m]) continue;
    seen[m] = true;
    if (o_.two_sided && !opened_for(r, w[i].to)) continue;
    able.push_back(i);
    if (!o_.random) break;
  }
  if (able.empty()) return false;
  const size_t i = able[random_() % able.size()];
  if (o_.two_sided && w[i].put) match(r, *w[i].put);
  arrive(r, w[i]);
  w.erase(w.begin() + static_cast<std::ptrdiff_t>(i));
  return !w.empty();
}

bool Execution::opened_for(int sender, int receiver) {
  const auto at = opens_.find({receiver, sender});
  return at != opens_.end() && !at->second.empty();
}

void Execution::open(int r, int lane, int peer, const Incoming& in) {
  if (in.region.rank != r || !in.bytes || !in.chunk)
    fail(r, "grant of nothing, or of foreign memory");
  Memory& m = object(in.region, {});
  bounds(r, m, in.region.offset, in.bytes);
  Open o{in.region, in.bytes, in.chunk, 0, {}};
  uint32_t& count = opened_[{r, peer}];
  for (size_t at = 0; at < in.bytes; at += in.chunk) {
    const size_t begin = in.region.offset + at,
                 end = in.region.offset + std::min(in.bytes, at + in.chunk);
    if (o_.clocks) m.each(begin, end, [&](Range& x, size_t) { check_write(r * parts + lane, x); });
    Range& x = m.store(begin, end);
    x.value = {};
    x.reads.clear();
    x.written = {static_cast<uint32_t>(landing_part(r, t_.node(peer))), ++count};
  }
  if (o_.clocks) o.granted = now(r * parts + lane);
  opens_[{r, peer}].push_back(o);
  if (o_.two_sided && !ranks_[peer].wire.empty()) queue(peer * parts + wire);
}

void Execution::match(int r, const Put& p) {
  auto& list = opens_[{p.peer, r}];
  if (list.empty()) fail(r, "put that was not granted");
  Open& o = list.front();
  const bool here = p.dst.buffer == o.place.buffer && p.dst.rank == p.peer &&
                    p.dst.offset == o.place.offset + o.at;
  if (!here || p.bytes != std::min(o.chunk, o.bytes - o.at)) fail(r, "put differs from its grant");
  if (o_.clocks && !o_.two_sided && clock_[r * parts + rail_lane][o.granted.part] < o.granted.time)
    fail(r, "put does not wait for its grant");
  o.at += p.bytes;
  if (o.at == o.bytes) list.pop_front();
}

}  // namespace tide::proof
