// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Turns: which rank's lane, or wire, goes on next.
#include "plan/check_execution.hpp"

#include <stdexcept>

namespace tide::proof {

namespace {
template <class... F>
struct overload : F... {
  using F::operator()...;
};
template <class... F>
overload(F...) -> overload<F...>;
}  // namespace

Execution::Execution(const Topology& t, const Layout& y, const std::vector<Plan>& plans,
                     const Limits& limits, const CheckOptions& o)
    : t_(t),
      y_(y),
      plans_(plans),
      barrier_(!limits.sync_in_plan),
      o_(o),
      N(t.ranks()),
      M(t.nodes()),
      gather_(o.collective == Collective::allgather),
      random_(o.seed),
      ranks_(N) {
  for (int r = 0; r < N; r++)
    for (int d = 0; d < N; d++) memory_.emplace_back(y.packed_bytes(d));
  for (int r = 0; r < N; r++) memory_.emplace_back(y.packed_bytes(r));
  for (int r = 0; r < N; r++)
    for (size_t bytes : {plans[r].need.stage, plans[r].need.landing, plans[r].need.partial})
      memory_.emplace_back(bytes);
  clock_.resize(static_cast<size_t>(N) * parts);
  published_.resize(clock_.size());
  queued_.resize(clock_.size());
  for (int r = 0; o.clocks && r < N; r++)
    for (int i = 0; i < parts; i++) {
      Clock& c = clock_[r * parts + i];
      c.assign(static_cast<size_t>(N) * parts + static_cast<size_t>(t.size(t.node(r))) * M, 0);
      c[r * parts + i] = 1;
    }
  count_signals();
}

size_t Execution::go() {
  for (int r = 0; r < N; r++) begin(r);
  enter();
  for (size_t done = 0; done < static_cast<size_t>(N) * o_.calls;) {
    if (turns_.empty()) fail_deadlock();
    const size_t pick = o_.random ? random_() % turns_.size() : turns_.size() - 1;
    const int turn = turns_[pick], r = turn / parts;
    int left = o_.random ? 1 + static_cast<int>(random_() % (2u << random_() % 5)) : 1 << 30;
    bool moving = true;
    while (left-- > 0 && moving)
      moving = turn % parts == wire ? deliver(r) : advance(r, turn % parts);
    if (!moving) {
      turns_[pick] = turns_.back();
      turns_.pop_back();
      queued_[turn] = false;
    }
    if (complete(r)) done += end(r);
  }
  return operations_;
}

int Execution::next_lane(int r) const {
  return ranks_[r].next < plans_[r].emitted.size()
             ? static_cast<int>(plans_[r].emitted[ranks_[r].next])
             : -1;
}

void Execution::queue(int turn) {
  if (queued_[turn]) return;
  queued_[turn] = true;
  turns_.push_back(turn);
}

bool Execution::advance(int r, int lane) {
  Rank& k = ranks_[r];
  if (!k.begun) return false;
  if (o_.single_queue && (lane = next_lane(r)) < 0) return false;
  if (k.at[lane] == plans_[r].lanes[lane].size()) return false;
  const Op& op = plans_[r].lanes[lane][k.at[lane]];
  const bool moved =
      std::visit(overload{[&](const Copy& c) { return copy(r, lane, c), true; },
                          [&](const Put& p) { return put(r, lane, p), true; },
                          [&](const Signal& s) { return signal(r, lane, s), true; },
                          [&](const Wait& w) { return wait(r, lane, w); },
                          [&](const Sum& s) { return sum(r, lane, s), true; },
                          [&](const SwitchSum& s) { return switch_sum(r, lane, s), true; }},
                 op);
  if (!moved) return false;
  k.at[lane]++;
  k.next++;
  operations_++;
  note_release(r, lane);
  return true;
}

void Execution::fail(int r, const std::string& what) const {
  throw std::runtime_error("rank " + std::to_string(r) + ", call " +
                           std::to_string(ranks_[r].call) + ": " + what);
}

void Execution::fail_deadlock() const {
  for (int r = 0; r < N; r++)
    for (int lane = 0; ranks_[r].begun && lane < lane_count; lane++)
      if (ranks_[r].at[lane] < plans_[r].lanes[lane].size())
        fail(r, "deadlock; lane " + std::to_string(lane) + " stands at operation " +
                    std::to_string(ranks_[r].at[lane]));
  throw std::runtime_error("deadlock: a put is never taken");
}

}  // namespace tide::proof

namespace tide {

CheckResult check(const Topology& t, const Layout& y, const std::vector<Plan>& plans,
                  const Limits& limits, const CheckOptions& o) {
  return {proof::Execution(t, y, plans, limits, o).go()};
}

}  // namespace tide
