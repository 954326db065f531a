// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The checker at work (check.hpp says what it proves).
// Clock components: four of each rank (its lanes, and its puts' reads), known everywhere; and,
// inside a node, how many puts each of its ranks has taken from each node.  The latter do not
// travel between nodes: nobody there touches this memory but by puts.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/check.hpp"
#include "plan/check_memory.hpp"

namespace tide::proof {

using Clock = std::vector<uint32_t>;
using Shared = std::shared_ptr<const Clock>;
constexpr int parts =
    lane_count + 1;  // of a rank; the last: reads of its puts, and, as a turn, its wire
constexpr int copy_lane = 0, rail_lane = 1, wire = lane_count;

inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
inline uint64_t add(uint64_t a, uint64_t b) {
  return mix(3 * mix(a) + b) | 1;
}  // neither commutative nor associative

struct Message {
  int to, index;
  std::optional<Put> put;
  Shared clock;
};
struct Box {  // signals of one (sender, receiver, index)
  uint64_t count = 0, per_call = 0, dropped = 0;
  std::deque<Shared> clocks;   // of signals dropped + 1, ...
  int waiting = -1;            // turn
  int sends = -1, waits = -1;  // lanes
};
struct Open {  // granted to a rail peer
  Region place;
  size_t bytes, chunk, at = 0;
  Epoch granted;
};
struct Rank {
  std::array<size_t, lane_count> at = {}, release = {};
  size_t next = 0;  // in emission order
  int call = 0;
  bool begun = false, released = false;
  uint32_t puts = 0;
  std::vector<Message> wire;
  Clock at_release;
};

class Execution {
 public:
  Execution(const Topology& t, const Layout& y, const std::vector<Plan>& plans,
            const Limits& limits, const CheckOptions& o);

  size_t go();

 private:
  // --- calls ---
  uint64_t input(int r, int call) const;
  uint64_t expected(int call) const;
  bool switched() const { return switched_; }
  Memory& param(int r, int d) { return memory_[static_cast<size_t>(r) * N + d]; }
  Memory& shard(int r) { return memory_[static_cast<size_t>(N) * N + r]; }

  void user_writes(int r, Memory& m, int place,
                   uint64_t expression);  // the program itself, between calls
  void begin(int r);
  bool complete(int r) const;
  size_t end(int r);  // ranks that ended a call
  void meet();        // every rank has heard of every other
  // What travels with the entry's records.  A rank that has entered knows that of its own stage.
  void enter();
  void tell(int r, size_t k);
  uint32_t taken(int r, int m) const;
  void finish(int r);  // the program looks at its outputs
  void verify(int r, Memory& m, int place);
  // Once a rank's lanes are past their last read of inputs and it has heard of its peers' reads,
  // the program may overwrite them.
  void note_release(int r, int lane);

  // --- signals ---
  Box& box(int to, int from, int index);
  bool granted_away(int index) const;
  void count_signals();
  void send(int r, int lane, Message m);
  void arrive(int from, const Message& m);
  bool deliver(int r);

  // --- grants ---
  bool opened_for(int sender, int receiver);
  void open(int r, int lane, int peer, const Incoming& in);
  void match(int r, const Put& p);  // to what its receiver opened, in order

  // --- clocks ---
  size_t landing_part(int r, int m) const {
    return static_cast<size_t>(N) * parts + static_cast<size_t>(t_.local(r)) * M + m;
  }
  void tick(int thread) { clock_[thread][thread]++; }
  Epoch now(int thread) {  // of an access: later than what was published
    if (published_[thread]) {
      published_[thread] = nullptr;
      tick(thread);
    }
    return {static_cast<uint32_t>(thread), clock_[thread][thread]};
  }
  void join(int thread, int other) {
    now(other);
    for (size_t i = 0; i < clock_[other].size(); i++)
      clock_[thread][i] = std::max(clock_[thread][i], clock_[other][i]);
    tick(other);
  }
  Shared publish(int r, int lane, int index) {
    const int thread = r * parts + lane;
    if (lane == rail_lane && !reports_puts(index)) {
      auto copy = std::make_shared<Clock>(clock_[thread]);
      published_[thread] = nullptr;
      tick(thread);
      return copy;
    }
    if (!published_[thread]) {
      auto copy = std::make_shared<Clock>(clock_[thread]);
      if (lane == rail_lane)
        (*copy)[r * parts + wire] = ranks_[r].puts;  // a Signal reports its lane's puts
      published_[thread] = copy;
    }
    return published_[thread];
  }
  bool knows(int thread, Epoch e) const { return e.time == 0 || clock_[thread][e.part] >= e.time; }
  void check_read(int thread, const Range& x) {
    if (!knows(thread, x.written)) fail(thread / parts, "read is not ordered after a write");
  }
  void check_write(int thread, const Range& x) {
    if (!knows(thread, x.written)) fail(thread / parts, "write is not ordered after a write");
    for (const Epoch& e : x.reads)
      if (!knows(thread, e)) fail(thread / parts, "write is not ordered after a read");
  }

  // --- memory ---
  Memory& object(const Region& p, const Interval& v);
  static bool by_interval(Buffer b) { return b == Buffer::param || b == Buffer::shard; }
  void bounds(int r, const Memory& m, size_t at, size_t bytes);
  size_t place(int r, const Region& p, const Interval& v, const Memory& m);
  void saw(Memory& m, size_t at, size_t bytes, int thread, Epoch e);
  // The expression that stands there, if it is the interval's at every byte.
  uint64_t load(int r, int lane, const Region& p, const Interval& v);
  void store(int r, int lane, const Region& p, const Interval& v, uint64_t expression);

  // --- operations ---
  void sum(int r, int lane, const Sum& s);
  void switch_sum(int r, int lane, const SwitchSum& s);
  void put_down(int r, int lane, const Region& dst, const std::optional<Region>& base,
                const Interval& v, uint64_t total);
  void copy(int r, int lane, const Copy& c);
  void put(int r, int lane, const Put& p);
  void signal(int r, int lane, const Signal& s);
  uint64_t needed(const Box& b, int r, const Wait& w) const;
  bool wait(int r, int lane, const Wait& w);
  int next_lane(int r) const;
  void queue(int turn);
  bool advance(int r, int lane);
  [[noreturn]] void fail(int r, const std::string& what) const;
  [[noreturn]] void fail_deadlock() const;

  const Topology& t_;
  const Layout& y_;
  const std::vector<Plan>& plans_;
  const bool barrier_;
  const CheckOptions& o_;
  const int N, M;
  const bool gather_;
  bool switched_ = false;
  std::mt19937 random_;
  std::vector<Rank> ranks_;
  std::vector<Memory> memory_;
  std::vector<Clock> clock_;
  std::vector<Shared> published_;
  std::unordered_map<uint64_t, Box> boxes_;
  std::map<std::pair<int, int>, std::deque<Open>> opens_;  // (receiver, sender)
  std::map<std::pair<int, int>, uint32_t> opened_;         // puts granted so far
  std::vector<uint64_t> expected_;                         // by call
  std::vector<int> turns_;                                 // that can move
  std::vector<bool> queued_;
  std::vector<Run> runs_;
  size_t operations_ = 0;
  int ended_ = 0;
};

}  // namespace tide::proof
