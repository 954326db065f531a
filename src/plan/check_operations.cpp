// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The operations, on the checker's memory.
#include "plan/check_execution.hpp"

#include <algorithm>

namespace tide::proof {

Memory& Execution::object(const Region& p, const Interval& v) {
  switch (p.buffer) {
    case Buffer::param:
      return param(p.rank, v.rank);
    case Buffer::shard:
      return shard(p.rank);
    case Buffer::stage:
    case Buffer::landing:
    case Buffer::partial:
      break;
  }
  return memory_[static_cast<size_t>(N) * (N + 1) + static_cast<size_t>(p.rank) * 3 +
                 (static_cast<size_t>(p.buffer) - 2)];
}

void Execution::bounds(int r, const Memory& m, size_t at, size_t bytes) {
  if (at > m.bytes() || bytes > m.bytes() - at) fail(r, "out of bounds");
}

size_t Execution::place(int r, const Region& p, const Interval& v, const Memory& m) {
  if (t_.node(p.rank) != t_.node(r)) fail(r, "access to another node's memory");
  if (p.buffer == Buffer::shard && p.rank != v.rank) fail(r, "rows of another rank in a shard");
  if (!v.size()) fail(r, "empty operation");
  if (y_.align_down(v.rank, v.begin) != v.begin || y_.align_down(v.rank, v.end) != v.end)
    fail(r, "an element is cut");
  const size_t at = by_interval(p.buffer) ? v.begin : p.offset;
  bounds(r, m, at, v.size());
  return at;
}

void Execution::saw(Memory& m, size_t at, size_t bytes, int thread, Epoch e) {
  m.each(at, at + bytes, [&](Range& x, size_t) {
    check_read(thread, x);
    for (Epoch& old : x.reads)
      if (old.part == e.part) {
        old.time = e.time;
        return;
      }
    x.reads.push_back(e);
  });
}

uint64_t Execution::load(int r, int lane, const Region& p, const Interval& v) {
  if (p.buffer == (gather_ ? Buffer::param : Buffer::shard)) fail(r, "an output is read");
  Memory& m = object(p, v);
  const size_t at = place(r, p, v, m);
  if (o_.clocks) saw(m, at, v.size(), r * parts + lane, now(r * parts + lane));
  runs_.clear();
  m.load(at, at + v.size(), runs_);
  if (runs_.size() != 1 || !runs_[0].value.expression) fail(r, "mixed or missing data are read");
  if (runs_[0].value.rank != v.rank || runs_[0].value.place != v.begin)
    fail(r, "data of another place are read");
  return runs_[0].value.expression;
}

void Execution::store(int r, int lane, const Region& p, const Interval& v, uint64_t expression) {
  if (p.buffer == (gather_ ? Buffer::shard : Buffer::param)) fail(r, "an input is written");
  Memory& m = object(p, v);
  const size_t at = place(r, p, v, m);
  int writes = 0;
  if (o_.clocks || by_interval(p.buffer))
    m.each(at, at + v.size(), [&](Range& x, size_t) {
      if (o_.clocks) check_write(r * parts + lane, x);
      writes = std::max(writes, x.writes);
    });
  Range& x = m.store(at, at + v.size());
  x.value = {expression, v.rank, v.begin};
  x.writes = writes + 1;
  x.reads.clear();
  if (o_.clocks) x.written = now(r * parts + lane);
}

void Execution::sum(int r, int lane, const Sum& s) {
  const int n = t_.node(r), rows = s.rows == every_local ? t_.size(n) : s.rows;
  if (s.order != Order::rows && rows != N) fail(r, "an order over ranks needs a row of each");
  std::vector<uint64_t> x(rows);
  for (int h = 0; h < rows; h++) {
    Region p = s.src;
    if (s.rows == every_local)
      p.rank = t_.rank(n, h);
    else
      p.offset += h * s.src.pitch;
    x[h] = load(r, lane, p, s.interval);
  }
  uint64_t total = 0;
  for (int i = 0; i < rows; i++) {
    uint64_t one = x[s.order == Order::ranks ? t_.position(i) : i];
    if (s.order == Order::nodes)
      for (const int node = t_.node(i); i + 1 < rows && t_.node(i + 1) == node; i++)
        one = add(one, x[i + 1]);
    total = total ? add(total, one) : one;
  }
  put_down(r, lane, s.dst, s.base, s.interval, total);
}

void Execution::switch_sum(int r, int lane, const SwitchSum& s) {
  const int n = t_.node(r);
  if (s.src.rank != every_local) fail(r, "a switch adds over every local rank");
  uint64_t layer = 0;
  for (int h = 0; h < t_.size(n); h++)
    layer += mix(load(r, lane, {s.src.buffer, t_.rank(n, h), s.src.offset}, s.interval));
  put_down(r, lane, s.dst, s.base, s.interval, mix(layer) | 1);
}

void Execution::put_down(int r, int lane, const Region& dst, const std::optional<Region>& base,
                         const Interval& v, uint64_t total) {
  store(r, lane, dst, v, base ? add(load(r, lane, *base, v), total) : total);
}

void Execution::copy(int r, int lane, const Copy& c) {
  const uint64_t x = load(r, lane, c.src, c.interval);
  if (c.dst.rank != every_local) return store(r, lane, c.dst, c.interval, x);
  for (int h = 0, n = t_.node(r); h < t_.size(n); h++)
    store(r, lane, {c.dst.buffer, t_.rank(n, h), c.dst.offset}, c.interval, x);
}

void Execution::put(int r, int lane, const Put& p) {
  if (by_interval(p.dst.buffer) || by_interval(p.src.buffer) || p.src.rank != r || !p.bytes)
    fail(r, "bad put");
  Memory &from = object(p.src, {}), &to = object(p.dst, {});
  bounds(r, from, p.src.offset, p.bytes);
  bounds(r, to, p.dst.offset, p.bytes);
  if (!o_.two_sided) match(r, p);
  const uint32_t k = ++ranks_[r].puts;
  Message m{p.peer, p.signal, p, nullptr};
  if (o_.clocks) {
    saw(from, p.src.offset, p.bytes, r * parts + lane,
        {static_cast<uint32_t>(r * parts + wire), k});
    published_[r * parts + lane] = nullptr;  // what was published does not report this put
    auto snapshot = std::make_shared<Clock>(clock_[r * parts + lane]);
    tick(r * parts + lane);
    m.clock = snapshot;
  }
  send(r, lane, std::move(m));
}

void Execution::signal(int r, int lane, const Signal& s) {
  if (s.opens) open(r, lane, s.peer, *s.opens);
  if (granted_away(s.index)) return;
  send(r, lane, {s.peer, s.index, {}, o_.clocks ? publish(r, lane, s.index) : nullptr});
}

uint64_t Execution::needed(const Box& b, int r, const Wait& w) const {
  return ranks_[r].call * b.per_call + w.until;
}

bool Execution::wait(int r, int lane, const Wait& w) {
  if (w.until == 0 || granted_away(w.index)) return true;
  Box& b = box(r, w.peer, w.index);
  const uint64_t need = needed(b, r, w);
  if (b.count < need) {
    b.waiting = r * parts + (o_.single_queue ? 0 : lane);
    return false;
  }
  if (!o_.clocks) return true;
  const int thread = r * parts + lane;
  const bool inside = t_.node(w.peer) == t_.node(r);
  if (need > b.dropped) {  // a sender's clock only grows: the last one covers the others
    const Clock& c = *b.clocks[need - b.dropped - 1];
    const size_t size = inside ? c.size() : static_cast<size_t>(N) * parts;
    Clock& mine = clock_[thread];
    for (size_t i = 0; i < size; i++) mine[i] = std::max(mine[i], c[i]);
    for (; b.dropped < need; b.dropped++) b.clocks.pop_front();
  }
  if (w.index == landed || w.index >= round_0) {
    uint32_t& part = clock_[thread][landing_part(r, t_.node(w.peer))];
    part = std::max(part, static_cast<uint32_t>(need));
  }
  published_[thread] = nullptr;  // it knows more now
  tick(thread);
  return true;
}

}  // namespace tide::proof
