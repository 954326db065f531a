// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Clock components: four of each rank (its lanes, and its puts' reads), known everywhere; and,
// inside a node, how many puts each of its ranks has taken from each node.  The latter do not
// travel between nodes: nobody there touches this memory but by puts.
#include "plan/check.hpp"

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "plan/check_memory.hpp"

namespace tide {
namespace {
using namespace proof;

template <class... F>
struct overload : F... {
  using F::operator()...;
};
template <class... F>
overload(F...) -> overload<F...>;

using Clock = std::vector<uint32_t>;
using Shared = std::shared_ptr<const Clock>;
constexpr int parts =
    lane_count + 1;  // of a rank; the last: reads of its puts, and, as a turn, its wire
constexpr int copy_lane = 0, rail_lane = 1, wire = lane_count;

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
uint64_t add(uint64_t a, uint64_t b) {
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

  size_t go() {
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

 private:
  // --- calls ---
  uint64_t input(int r, int call) const {
    return mix(static_cast<uint64_t>(r) * 1000003 + call + 17) | 1;
  }
  uint64_t expected(int call) const {
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
  bool switched() const { return switched_; }
  Memory& param(int r, int d) { return memory_[static_cast<size_t>(r) * N + d]; }
  Memory& shard(int r) { return memory_[static_cast<size_t>(N) * N + r]; }

  void user_writes(int r, Memory& m, int place,
                   uint64_t expression) {  // the program itself, between calls
    if (o_.clocks && m.bytes())
      m.each(0, m.bytes(), [&](Range& x, size_t) { check_write(r * parts, x); });
    m.reset({expression, place, 0});
    if (o_.clocks && !barrier_ && m.bytes())  // else everybody waits for the entry that follows
      m.each(0, m.bytes(), [&](Range& x, size_t) { x.written = now(r * parts); });
  }
  void begin(int r) {
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
  bool complete(int r) const {
    const Rank& k = ranks_[r];
    if (!k.begun || !k.wire.empty()) return false;
    for (int lane = 0; lane < lane_count; lane++)
      if (k.at[lane] != plans_[r].lanes[lane].size()) return false;
    return true;
  }
  size_t end(int r) {  // ranks that ended a call
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
  void meet() {  // every rank has heard of every other
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
  // What travels with the entry's records.  A rank that has entered knows that of its own stage.
  void enter() {
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
  void tell(int r, size_t k) {
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
  uint32_t taken(int r, int m) const {
    const auto at = opened_.find({r, t_.rank(m, std::min(t_.local(r), t_.size(m) - 1))});
    return at == opened_.end() ? 0 : at->second;
  }
  void finish(int r) {  // the program looks at its outputs
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
  void verify(int r, Memory& m, int place) {
    if (!m.bytes()) return;
    const uint64_t want = expected_[ranks_[r].call];
    m.each(0, m.bytes(), [&](Range& x, size_t) {
      if (o_.clocks) check_read(r * parts, x);
      if (x.writes != 1) fail(r, "output written " + std::to_string(x.writes) + " times");
      if (x.value.expression != want) fail(r, "wrong sum or order in the output");
      if (x.value.rank != place || x.value.place != x.begin) fail(r, "output from a wrong place");
    });
  }
  // Once a rank's lanes are past their last read of inputs and it has heard of its peers' reads,
  // the program may overwrite them.
  void note_release(int r, int lane) {
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

  // --- signals ---
  Box& box(int to, int from, int index) {
    return boxes_[((static_cast<uint64_t>(to) * N) + from) * index_count + index];
  }
  bool granted_away(int index) const {
    return o_.two_sided && (index == granted || index == credit);
  }
  void count_signals() {
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
  void send(int r, int lane, Message m) {
    if (lane == rail_lane && (m.put || !ranks_[r].wire.empty())) {
      ranks_[r].wire.push_back(std::move(m));
      queue(r * parts + wire);
    } else {
      arrive(r, m);
    }
  }
  void arrive(int from, const Message& m) {
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
  bool deliver(int r) {
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

  // --- grants ---
  bool opened_for(int sender, int receiver) {
    const auto at = opens_.find({receiver, sender});
    return at != opens_.end() && !at->second.empty();
  }
  void open(int r, int lane, int peer, const Incoming& in) {
    if (in.region.rank != r || !in.bytes || !in.chunk)
      fail(r, "grant of nothing, or of foreign memory");
    Memory& m = object(in.region, {});
    bounds(r, m, in.region.offset, in.bytes);
    Open o{in.region, in.bytes, in.chunk, 0, {}};
    uint32_t& count = opened_[{r, peer}];
    for (size_t at = 0; at < in.bytes; at += in.chunk) {
      const size_t begin = in.region.offset + at,
                   end = in.region.offset + std::min(in.bytes, at + in.chunk);
      if (o_.clocks)
        m.each(begin, end, [&](Range& x, size_t) { check_write(r * parts + lane, x); });
      Range& x = m.store(begin, end);
      x.value = {};
      x.reads.clear();
      x.written = {static_cast<uint32_t>(landing_part(r, t_.node(peer))), ++count};
    }
    if (o_.clocks) o.granted = now(r * parts + lane);
    opens_[{r, peer}].push_back(o);
    if (o_.two_sided && !ranks_[peer].wire.empty()) queue(peer * parts + wire);
  }
  void match(int r, const Put& p) {  // to what its receiver opened, in order
    auto& list = opens_[{p.peer, r}];
    if (list.empty()) fail(r, "put that was not granted");
    Open& o = list.front();
    const bool here = p.dst.buffer == o.place.buffer && p.dst.rank == p.peer &&
                      p.dst.offset == o.place.offset + o.at;
    if (!here || p.bytes != std::min(o.chunk, o.bytes - o.at))
      fail(r, "put differs from its grant");
    if (o_.clocks && !o_.two_sided &&
        clock_[r * parts + rail_lane][o.granted.part] < o.granted.time)
      fail(r, "put does not wait for its grant");
    o.at += p.bytes;
    if (o.at == o.bytes) list.pop_front();
  }

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
  Shared publish(int r, int lane) {
    const int thread = r * parts + lane;
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
  Memory& object(const Region& p, const Interval& v) {
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
  static bool by_interval(Buffer b) { return b == Buffer::param || b == Buffer::shard; }
  void bounds(int r, const Memory& m, size_t at, size_t bytes) {
    if (at > m.bytes() || bytes > m.bytes() - at) fail(r, "out of bounds");
  }
  size_t place(int r, const Region& p, const Interval& v, const Memory& m) {
    if (t_.node(p.rank) != t_.node(r)) fail(r, "access to another node's memory");
    if (p.buffer == Buffer::shard && p.rank != v.rank) fail(r, "rows of another rank in a shard");
    if (!v.size()) fail(r, "empty operation");
    if (y_.align_down(v.rank, v.begin) != v.begin || y_.align_down(v.rank, v.end) != v.end)
      fail(r, "an element is cut");
    const size_t at = by_interval(p.buffer) ? v.begin : p.offset;
    bounds(r, m, at, v.size());
    return at;
  }
  void saw(Memory& m, size_t at, size_t bytes, int thread, Epoch e) {
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
  // The expression that stands there, if it is the interval's at every byte.
  uint64_t load(int r, int lane, const Region& p, const Interval& v) {
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
  void store(int r, int lane, const Region& p, const Interval& v, uint64_t expression) {
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

  // --- operations ---
  void sum(int r, int lane, const Sum& s) {
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
  void switch_sum(int r, int lane, const SwitchSum& s) {
    const int n = t_.node(r);
    if (s.src.rank != every_local) fail(r, "a switch adds over every local rank");
    uint64_t layer = 0;
    for (int h = 0; h < t_.size(n); h++)
      layer += mix(load(r, lane, {s.src.buffer, t_.rank(n, h), s.src.offset}, s.interval));
    put_down(r, lane, s.dst, s.base, s.interval, mix(layer) | 1);
  }
  void put_down(int r, int lane, const Region& dst, const std::optional<Region>& base,
                const Interval& v, uint64_t total) {
    store(r, lane, dst, v, base ? add(load(r, lane, *base, v), total) : total);
  }
  void copy(int r, int lane, const Copy& c) {
    const uint64_t x = load(r, lane, c.src, c.interval);
    if (c.dst.rank != every_local) return store(r, lane, c.dst, c.interval, x);
    for (int h = 0, n = t_.node(r); h < t_.size(n); h++)
      store(r, lane, {c.dst.buffer, t_.rank(n, h), c.dst.offset}, c.interval, x);
  }
  void put(int r, int lane, const Put& p) {
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
  void signal(int r, int lane, const Signal& s) {
    if (s.opens) open(r, lane, s.peer, *s.opens);
    if (granted_away(s.index)) return;
    send(r, lane, {s.peer, s.index, {}, o_.clocks ? publish(r, lane) : nullptr});
  }
  uint64_t needed(const Box& b, int r, const Wait& w) const {
    return ranks_[r].call * b.per_call + w.until;
  }
  bool wait(int r, int lane, const Wait& w) {
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
  int next_lane(int r) const {
    return ranks_[r].next < plans_[r].emitted.size()
               ? static_cast<int>(plans_[r].emitted[ranks_[r].next])
               : -1;
  }
  void queue(int turn) {
    if (queued_[turn]) return;
    queued_[turn] = true;
    turns_.push_back(turn);
  }
  bool advance(int r, int lane) {
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
  [[noreturn]] void fail(int r, const std::string& what) const {
    throw std::runtime_error("rank " + std::to_string(r) + ", call " +
                             std::to_string(ranks_[r].call) + ": " + what);
  }
  [[noreturn]] void fail_deadlock() const {
    for (int r = 0; r < N; r++)
      for (int lane = 0; ranks_[r].begun && lane < lane_count; lane++)
        if (ranks_[r].at[lane] < plans_[r].lanes[lane].size())
          fail(r, "deadlock; lane " + std::to_string(lane) + " stands at operation " +
                      std::to_string(ranks_[r].at[lane]));
    throw std::runtime_error("deadlock: a put is never taken");
  }

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

}  // namespace

CheckResult check(const Topology& t, const Layout& y, const std::vector<Plan>& plans,
                  const Limits& limits, const CheckOptions& o) {
  return {Execution(t, y, plans, limits, o).go()};
}

}  // namespace tide
