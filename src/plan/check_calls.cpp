// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Calls as a program makes them: what goes in, and what must come out.
#include "plan/check_execution.hpp"

#include <algorithm>

namespace tide::proof {

uint64_t Execution::input(int r, int call) const {
  return mix(static_cast<uint64_t>(r) * 1000003 + call + 17) | 1;
}

uint64_t Execution::expected(int call) const {
  if (gather_) return input(0, call);
  uint64_t total = 0, layer = 0;
  const bool latin = switched();
  for (int n = 0; n < M; n++) {
    uint64_t node = 0;
    for (int h = 0; h < t_.size(n); h++) {
      const uint64_t x = input(t_.rank(n, h), call);
      node = h ? add(node, x) : x;
    }
    const int L = t_.largest(), first = n / L * L, last = std::min(M, first + L) - 1;
    if (latin && last - first + 1 == L) {
      layer += mix(node);
      if (n != last) continue;
      node = mix(layer) | 1;
      layer = 0;
      total = first ? add(total, node) : node;
    } else {
      total = n ? add(total, node) : node;
    }
  }
  for (int r = 0; o_.rank_order && r < N; r++) {
    const uint64_t x = input(t_.position(r), call);
    total = r ? add(total, x) : x;
  }
  return total;
}

void Execution::user_writes(int r, Memory& m, int place, uint64_t expression) {
  if (o_.clocks && m.bytes())
    m.each(0, m.bytes(), [&](Range& x, size_t) { check_write(r * parts, x); });
  m.reset({expression, place, 0});
  if (o_.clocks && !barrier_ && m.bytes())  // else everybody waits for the entry that follows
    m.each(0, m.bytes(), [&](Range& x, size_t) { x.written = now(r * parts); });
}

void Execution::begin(int r) {
  Rank& k = ranks_[r];
  if (o_.clocks)
    for (int i = 1; i < lane_count; i++) join(r * parts, r * parts + i);
  for (int d = 0; d < N; d++) user_writes(r, param(r, d), d, gather_ ? 0 : input(r, k.call));
  user_writes(r, shard(r), r, gather_ ? input(0, k.call) : 0);
  if (o_.clocks) {
    for (int i = 1; i < lane_count; i++) join(r * parts + i, r * parts);
    tick(r * parts);
    k.at_release.assign(clock_[r * parts].size(), 0);
  }
  k.at = {};
  k.next = 0;
  k.begun = true;
  k.released = false;
  for (int lane = 0; lane < (o_.single_queue ? 1 : lane_count); lane++) queue(r * parts + lane);
  note_release(r, -1);
}

bool Execution::complete(int r) const {
  const Rank& k = ranks_[r];
  if (!k.begun || !k.wire.empty()) return false;
  for (int lane = 0; lane < lane_count; lane++)
    if (k.at[lane] != plans_[r].lanes[lane].size()) return false;
  return true;
}

size_t Execution::end(int r) {
  ranks_[r].begun = false;
  if (!barrier_) {
    finish(r);
    if (ranks_[r].call < o_.calls) begin(r);
    return 1;
  }
  if (++ended_ < N) return 1;
  ended_ = 0;
  meet();
  for (int q = 0; q < N; q++) finish(q);
  if (ranks_[r].call == o_.calls) return 1;
  for (int q = 0; q < N; q++) begin(q);
  enter();
  return 1;
}

void Execution::meet() {
  if (o_.clocks) {
    Clock all(static_cast<size_t>(N) * parts, 0);
    for (auto& c : clock_)
      for (size_t i = 0; i < all.size(); i++) all[i] = std::max(all[i], c[i]);
    for (int r = 0; r < N; r++) all[r * parts + wire] = ranks_[r].puts;
    for (size_t i = 0; i < clock_.size(); i++) {
      std::copy(all.begin(), all.end(), clock_[i].begin());
      const int q = static_cast<int>(i) / parts, n = t_.node(q);
      for (int h = 0; h < t_.size(n); h++)
        for (int m = 0; m < M; m++)
          clock_[i][landing_part(t_.rank(n, h), m)] = taken(t_.rank(n, h), m);
      published_[i] = nullptr;
      clock_[i][i]++;
    }
  }
}

void Execution::enter() {
  if (std::all_of(plans_.begin(), plans_.end(),
                  [](const Plan& p) { return p.before_entry.empty() && p.eager.empty(); }))
    return;
  if (!barrier_) fail(0, "an eager plan without the request's entry");
  for (int r = 0; r < N; r++)
    for (const Copy& c : plans_[r].before_entry) copy(r, copy_lane, c);
  meet();
  for (size_t k = 0; size_t{1} << k < static_cast<size_t>(M); k++)
    for (int r = 0; r < N; r++)
      if (t_.local(r) < t_.rails()) tell(r, k);
  for (int r = 0; o_.clocks && r < N; r++) join(r * parts + copy_lane, r * parts + rail_lane);
}

void Execution::tell(int r, size_t k) {
  const int to = t_.rank((t_.node(r) + M - (1 << k)) % M, t_.local(r));
  if (k >= plans_[r].eager.size() || k >= plans_[to].eager.size()) fail(r, "no eager round");
  const EagerRound &mine = plans_[r].eager[k], &its = plans_[to].eager[k];
  if (its.receive != mine.send) fail(r, "an eager round of another size");
  Memory &from = object({Buffer::stage, r}, {}), &into = object({Buffer::stage, to}, {});
  bounds(r, from, 0, mine.send);
  bounds(to, into, its.place, its.receive);
  std::vector<Run> runs;
  from.load(0, mine.send, runs);
  size_t at = its.place;
  for (const Run& run : runs) {
    Range& x = into.store(at, at + run.bytes);
    x = {x.begin, run.value};
    if (o_.clocks) x.written = now(to * parts + rail_lane);
    at += run.bytes;
  }
  operations_++;
}

uint32_t Execution::taken(int r, int m) const {
  const auto at = opened_.find({r, t_.rank(m, std::min(t_.local(r), t_.size(m) - 1))});
  return at == opened_.end() ? 0 : at->second;
}

void Execution::finish(int r) {
  Rank& k = ranks_[r];
  if (o_.clocks) {
    for (int i = 1; i < lane_count; i++) join(r * parts, r * parts + i);
    clock_[r * parts][r * parts + wire] = k.puts;
  }
  if (gather_)
    for (int d = 0; d < N; d++) verify(r, param(r, d), d);
  else
    verify(r, shard(r), r);
  k.call++;
}

void Execution::verify(int r, Memory& m, int place) {
  if (!m.bytes()) return;
  const uint64_t want = expected_[ranks_[r].call];
  m.each(0, m.bytes(), [&](Range& x, size_t) {
    if (o_.clocks) check_read(r * parts, x);
    if (x.writes != 1) fail(r, "output written " + std::to_string(x.writes) + " times");
    if (x.value.expression != want) fail(r, "wrong sum or order in the output");
    if (x.value.rank != place || x.value.place != x.begin) fail(r, "output from a wrong place");
  });
}

void Execution::note_release(int r, int lane) {
  Rank& k = ranks_[r];
  if (k.released) return;
  if (o_.clocks && lane >= 0 && k.at[lane] == k.release[lane])
    for (size_t i = 0; i < k.at_release.size(); i++)
      k.at_release[i] = std::max(k.at_release[i], clock_[r * parts + lane][i]);
  for (int i = 0; i < lane_count; i++)
    if (k.at[i] < k.release[i]) return;
  k.released = true;
  auto overwrite = [&](Memory& m) {
    if (!m.bytes()) return;
    if (o_.clocks)
      m.each(0, m.bytes(), [&](Range& x, size_t) {
        for (const Epoch& e : x.reads)
          if (k.at_release[e.part] < e.time) fail(r, "inputs overwritten while they are read");
      });
    m.store(0, m.bytes()).value = {};
  };
  if (gather_) overwrite(shard(r));
  for (int d = 0; !gather_ && d < N; d++) overwrite(param(r, d));
}

}  // namespace tide::proof
