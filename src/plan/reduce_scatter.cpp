// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter by rotation.  Each block (blocks.hpp) is cut in chunks (cuts.hpp); a carrier of
// node n sends its node's slice of chunk c to node n + s at step t = c (M - 1) + s - 1, s = 1 ... M
// - 1: every step is a permutation of the nodes without a self step, so no node is overrun.  The M
// slices of a chunk meet in a landing slot, and one Sum adds them in node order.
//   Pacing: the credit for arrival t + P goes out when arrival t has been taken and, at a chunk's
//   end, added up.  P is at most (slots - 1)(M - 1) + 1 where landing slots are used again.
//   Emission walks `now`: take what was put at now - 1, form what goes at now + ahead, add the own
//   slice, put.  Whatever a rank waits for was emitted at an earlier (now, phase): one queue per
//   rank is enough. Raw: the ranks' gradients themselves cross the rails and the last Sum nests
//   them.  Latin square: GPU g of node n forms sub-slice (g - n) mod L of every destination of a
//   node, so that a switch adds L contributors at one offset.
#include <optional>
#include <stdexcept>

#include "plan/cuts.hpp"

namespace tide {
namespace {

struct Part {  // of a slice: the part that goes to one destination rank
  Interval interval;
  size_t offset;  // in the slice
};
using Parts = std::vector<Part>;
size_t bytes_of(const Parts& list) {
  return list.empty() ? 0 : list.back().offset + list.back().interval.size();
}
struct Task {
  int m, c;  // chunk c of node m
};
struct Ring {  // places in a carrier's stage, filled by all local ranks (only without peer loads)
  int staged, free;
  Lane consumer;
  size_t slots, base = 0, used = 0, total = 0;
  std::vector<size_t> pushed;  // tasks pushed to each carrier
};

struct Planner {
  const Topology& t;
  const Layout& y;
  const Limits& limits;
  const Options& o;
  const int rank;
  const Cuts cuts;
  const int M = t.nodes(), n = t.node(rank), l = t.local(rank), L = t.size(n), g = t.rails();
  const bool raw = cuts.raw, latin = cuts.latin, loads = limits.peer_loads, carrier = l < g;
  const int steps = std::max(M - 1, 1);
  const size_t slice = cuts.slice;
  const int ahead = static_cast<int>(cuts.sends ? cuts.sends - 1 : 0);
  // The own slice of a chunk may be read as soon as its landing slot is free, but not before what
  // the network waits for.
  const int own_ahead = loads ? std::min(ahead, (cuts.slots - 1) * (M - 1)) : 0;
  const int pace = cuts.chunks <= cuts.slots
                       ? o.puts_in_flight
                       : std::min(o.puts_in_flight, (cuts.slots - 1) * (M - 1) + 1);
  Ring send{staged, stage_free, raw ? Lane::rail : Lane::sum, raw ? cuts.sends : 2};
  Ring own{own_staged, own_free, Lane::sum, cuts.own_slots()};
  size_t formed = 0, puts = 0, reads_left = 0;
  std::vector<uint64_t> credits = {}, landings = {};  // waited for, by node
  std::vector<uint64_t> reads_by = {};                // by local rank whose block this one carries
  uint64_t layers_here = 0, layers_read = 0;
  Plan plan = {};

  int node_at(int distance) const { return ((n + distance) % M + M) % M; }
  Region self(Buffer b, size_t offset = 0) const { return {b, rank, offset}; }
  template <class F>
  void each_local(F f) const {
    for (int h = 0; h < L; h++) f(t.rank(n, h));
  }
  void exchange(Lane lane, int index, uint64_t count = 1) {
    signal_others(lane, index);
    await_others(lane, index, count);
  }
  void signal_others(Lane lane, int index) {
    each_local([&](int r) {
      if (r != rank) plan.add(lane, Signal{r, index});
    });
  }
  void await_others(Lane lane, int index, uint64_t count) {
    each_local([&](int r) {
      if (r != rank) plan.add(lane, Wait{r, index, count});
    });
  }

  // --- what is sent when ---
  int sub_slice_of(int node, int local) const { return ((local - node) % g + g) % g; }
  Interval sub_slice(int m, int c, int j, int d) const {
    const int r = t.rank(m, d);
    const size_t a = cuts.cut_shard(r, c), b = cuts.cut_shard(r, c + 1);
    const size_t elem = largest_elem_bytes(y),
                 each = ((b - a + g - 1) / g + elem - 1) / elem * elem;
    return {r, y.align_down(r, std::min(b, a + j * each)),
            y.align_down(r, std::min(b, a + (j + 1) * each))};
  }
  Parts parts(int from, int i, Task x) const {  // what local rank i of node `from` adds up for x
    Parts list;
    size_t offset = 0;
    auto add = [&](Interval v) {
      if (v.size()) list.push_back({v, offset});
      offset += v.size();
    };
    if (latin) {
      for (int d = 0; d < g; d++) add(sub_slice(x.m, x.c, sub_slice_of(from, i), d));
      return list;
    }
    const size_t a = cuts.cut(x.m, i, x.c), b = cuts.cut(x.m, i, x.c + 1);
    size_t at = 0;  // of a shard in the block
    for (int h = i; h < t.size(x.m); h += g) {
      const int r = t.rank(x.m, h);
      const size_t end = at + y.packed_bytes(r);
      add({r, std::clamp(a, at, end) - at, std::clamp(b, at, end) - at});
      at = end;
    }
    return list;
  }
  size_t slice_bytes(int from, int i, Task x) const {
    if (!latin) return cuts.cut(x.m, i, x.c + 1) - cuts.cut(x.m, i, x.c);
    return bytes_of(parts(from, i, x));
  }
  std::optional<Task> send_at(int i,
                              int when) const {  // what rail i of this node puts at this step
    if (when < 0 || M == 1) return {};
    const Task x{node_at(when % steps + 1), when / steps};
    if (x.c >= cuts.chunks_of(x.m, i) || !slice_bytes(n, i, x)) return {};
    return x;
  }
  std::optional<Task> own_at(int i, int when) const {  // this node's slice of its own chunk
    if (when < 0 || when % steps || when / steps >= cuts.chunks_of(n, i)) return {};
    const Task x{n, when / steps};
    return slice_bytes(n, i, x) ? std::optional(x) : std::nullopt;
  }
  struct Arrival {
    int from, c;
    bool last;     // of its chunk
    size_t bytes;  // may be 0: then nothing comes
  };
  std::optional<Arrival> arrival_at(int when) const {
    if (when < 0 || M == 1 || when / steps >= cuts.chunks_of(n, l)) return {};
    const int from = node_at(-1 - when % steps), c = when / steps;
    const size_t rows = raw ? static_cast<size_t>(t.size(from)) : 1;
    return Arrival{from, c, when % steps == steps - 1, rows * slice_bytes(from, l, {n, c})};
  }
  // Rows of one chunk stand side by side, `bytes` apart.
  size_t landing_slot(int c) const { return c % cuts.slots * slice * cuts.landing_rows; }
  size_t landing_offset(int from, int c, size_t bytes) const {
    if (latin) return landing_slot(c) + (from / g * g + sub_slice_of(from, l)) * slice;
    return landing_slot(c) + (raw ? t.first(from) : from) * bytes;
  }

  // --- gradients into slices ---
  size_t stage_at(const Ring& ring, size_t k) const {
    return ring.base + k % ring.slots * L * slice;
  }
  void push(Ring& ring, int h, Task x) {  // my row into a stage of carrier h
    const size_t k = ring.pushed[h]++;
    const Parts list = parts(n, h, x);
    const int to = t.rank(n, h);
    if (k >= ring.slots) plan.add(Lane::copy, Wait{to, ring.free, k - ring.slots + 1});
    for (const Part& p : list)
      plan.add(Lane::copy,
               Copy{{Buffer::stage, to, stage_at(ring, k) + l * bytes_of(list) + p.offset},
                    self(Buffer::param),
                    p.interval});
    plan.add(Lane::copy, Signal{to, ring.staged});
  }
  void take(Ring& ring) {
    each_local([&](int r) { plan.add(ring.consumer, Wait{r, ring.staged, ring.used + 1}); });
  }
  void release(Ring& ring) {
    if (ring.used++ + ring.slots >= ring.total) return;
    each_local([&](int r) { plan.add(ring.consumer, Signal{r, ring.free}); });
  }
  // The node's sum of a slice, from the local ranks' gradients or from a stage, into dst(part).
  template <class Dst>
  void add_up(Ring& ring, Task x, Dst dst) {
    const Parts list = parts(n, l, x);
    if (!loads) take(ring);
    for (const Part& p : list) {
      Region rows{Buffer::param, every_local};
      if (!loads)
        rows = {Buffer::stage, rank, stage_at(ring, ring.used) + p.offset, bytes_of(list)};
      plan.add(Lane::sum, Sum{dst(p), {}, rows, loads ? every_local : L, Order::rows, p.interval});
    }
    if (!loads)
      release(ring);
    else
      was_read();
  }
  // The rows themselves, one after another from `offset`.
  void copy_rows(Region dst, Task x) {
    const Parts list = parts(n, l, x);
    if (!loads) take(own);
    for (int h = 0; h < L; h++)
      for (const Part& p : list) {
        const size_t at = h * bytes_of(list) + p.offset;
        Region row{Buffer::param, t.rank(n, h)};
        if (!loads) row = self(Buffer::stage, stage_at(own, own.used) + at);
        plan.add(Lane::sum, Copy{{dst.buffer, dst.rank, dst.offset + at}, row, p.interval});
      }
    if (!loads)
      release(own);
    else
      was_read();
  }
  void was_read() {  // tells the node as soon as the last gradient has been read here
    if (--reads_left) return;
    each_local([&](int r) { plan.add(Lane::sum, Signal{r, inputs_read}); });
  }

  // --- the steps ---
  void grant(int arrival) {
    const auto a = arrival_at(arrival);
    if (!a || !a->bytes) return;
    const size_t row = slice_bytes(a->from, l, {n, a->c});
    const Region place = self(Buffer::landing, landing_offset(a->from, a->c, row));
    plan.add(Lane::sum,
             Signal{t.rank(a->from, l), credit, Incoming{landed, place, a->bytes, a->bytes}});
  }
  void take_arrival(int when) {
    const auto a = arrival_at(when);
    if (!a) return;
    if (a->bytes) plan.add(Lane::sum, Wait{t.rank(a->from, l), landed, ++landings[a->from]});
    if (a->last) latin ? add_layers(a->c) : add_rows(a->c);
    grant(when + pace);
  }
  // The last sum of a destination rank is that rank's own, wherever its rows have landed: only it
  // knows its outputs.  Larger nodes than the smallest have ranks whose block another one carries.
  void add_rows(int c) {
    for (const Part& p : parts(n, l, {n, c}))
      if (p.interval.rank == rank)
        last_sum(rank, c, p);
      else
        plan.add(Lane::sum, Signal{p.interval.rank, layer_here});
    for (const Part& p : parts(n, l, {n, c}))
      if (p.interval.rank != rank)
        plan.add(Lane::sum,
                 Wait{p.interval.rank, layer_read, ++reads_by[t.local(p.interval.rank)]});
  }
  void last_sum(int from, int c, const Part& p) {
    const size_t row = bytes_of(parts(n, t.local(from), {n, c}));
    plan.add(Lane::sum, Sum{{Buffer::shard, rank},
                            {},
                            {Buffer::landing, from, landing_slot(c) + p.offset, row},
                            cuts.landing_rows,
                            !raw           ? Order::rows
                            : o.rank_order ? Order::ranks
                                           : Order::nodes,
                            p.interval});
  }
  // The same chunk at a rank without a rail: it adds its part up in its carrier's landing.
  void add_carried(int when) {
    const int by = l % g, c = when / steps;
    if (M == 1 || when < 0 || when % steps != steps - 1 || c >= cuts.chunks_of(n, by)) return;
    for (const Part& p : parts(n, by, {n, c})) {
      if (p.interval.rank != rank) continue;
      plan.add(Lane::sum, Wait{t.rank(n, by), layer_here, ++layers_here});
      last_sum(t.rank(n, by), c, p);
      plan.add(Lane::sum, Signal{t.rank(n, by), layer_read});
    }
  }
  // Contributors of a layer stand at one offset of L ranks' landing: a full layer is the switch's,
  // a partial one (a slot never written holds garbage) is added in node order.
  void add_layers(int c) {
    exchange(Lane::sum, layer_here, ++layers_here);
    const size_t begin = cuts.cut_shard(rank, c), last_sums = cuts.sends * slice;
    for (int j = 0; j < g; j++) {
      const Interval v = sub_slice(n, c, j, l);
      if (!v.size()) continue;
      const Region out{Buffer::shard, rank},
          acc = self(Buffer::partial, last_sums + v.begin - begin);
      size_t in_cell = 0;
      for (int d = 0; d < l; d++) in_cell += sub_slice(n, c, j, d).size();
      for (int first = 0; first < M; first += g) {
        const int last = std::min(M, first + g) - 1;
        const size_t at = landing_slot(c) + (first + j) * slice + in_cell;
        if (last - first + 1 == g) {
          plan.add(Lane::sum, SwitchSum{last == M - 1 ? out : acc,
                                        first ? std::optional(acc) : std::nullopt,
                                        {Buffer::landing, every_local, at},
                                        v});
          continue;
        }
        for (int k = first; k <= last; k++)
          plan.add(Lane::sum, Sum{k == M - 1 ? out : acc,
                                  k ? std::optional(acc) : std::nullopt,
                                  {Buffer::landing, t.rank(n, (k + j) % g), at},
                                  1,
                                  Order::rows,
                                  v});
      }
    }
    exchange(Lane::sum, layer_read, ++layers_read);
  }
  void add_own(int when) {
    const auto x = own_at(l, when);
    if (!x) return;
    if (M == 1)
      return add_up(own, *x, [](const Part& p) { return Region{Buffer::shard, p.interval.rank}; });
    const size_t at = landing_offset(n, x->c, slice_bytes(n, l, *x));
    if (raw) return copy_rows(self(Buffer::landing, at), *x);
    add_up(own, *x, [&](const Part& p) { return self(Buffer::landing, at + p.offset); });
  }
  void form(int when) {
    const auto x = send_at(l, when);
    if (!x || (raw && !loads)) return;  // raw rows are pushed straight to where they are put from
    const size_t k = formed++, place = k % cuts.sends * cuts.send_rows * slice;
    if (k >= cuts.sends) plan.add(Lane::sum, Wait{rank, partial_free, k - cuts.sends + 1});
    if (raw)
      copy_rows(self(Buffer::stage, k % cuts.sends * L * slice), *x);
    else
      add_up(send, *x, [&](const Part& p) { return self(Buffer::partial, place + p.offset); });
    plan.add(Lane::sum, Signal{rank, summed});
  }
  void put(int when) {
    const auto x = send_at(l, when);
    if (!x) return;
    const size_t k = puts++, row = slice_bytes(n, l, *x);
    const int peer = t.rank(x->m, l);
    plan.add(Lane::rail, Wait{peer, credit, ++credits[x->m]});
    if (raw && !loads)
      take(send);
    else
      plan.add(Lane::rail, Wait{rank, summed, k + 1});
    const Region src = raw ? self(Buffer::stage, k % cuts.sends * L * slice)
                           : self(Buffer::partial, k % cuts.sends * slice);
    plan.add(Lane::rail, Put{peer,
                             landed,
                             {Buffer::landing, peer, landing_offset(n, x->c, row)},
                             src,
                             row * (raw ? L : 1)});
    if (raw && !loads)
      release(send);
    else if (k + cuts.sends < send.total)
      plan.add(Lane::rail, Signal{rank, partial_free});
  }

  void workspace() {
    send.pushed.assign(g, 0);
    own.pushed.assign(g, 0);
    credits.assign(M, 0);
    landings.assign(M, 0);
    reads_by.assign(L, 0);
    const size_t send_stage = M == 1 ? 0 : raw ? cuts.sends : loads ? 0 : send.slots;
    own.base = send_stage * L * slice;
    plan.places.stage = own.base + (loads ? 0 : own.slots * L * slice);
    if (M > 1) plan.places.landing = cuts.slots * cuts.landing_rows * slice + cuts.spare;
    if (M > 1) plan.places.partial = (raw ? 0 : cuts.sends * slice) + cuts.last_sum;
    if (!carrier) return;
    plan.need = plan.places;
    for (int when = 0; when < std::max(1, cuts.chunks * steps); when++) {
      send.total += send_at(l, when).has_value();
      own.total += own_at(l, when).has_value();
    }
    reads_left = loads ? own.total + send.total : 0;
  }
  Plan make() {
    workspace();
    for (int a = 0; carrier && a < pace; a++) grant(a);
    if (limits.sync_in_plan) exchange(loads ? Lane::sum : Lane::copy, ready);
    if (loads && !reads_left)
      each_local([&](int r) { plan.add(Lane::sum, Signal{r, inputs_read}); });
    for (int now = -ahead, end = cuts.chunks * steps; now <= end; now++) {
      for (int h = 0; h < g && !loads; h++) {
        if (const auto x = send_at(h, now + ahead)) push(send, h, *x);
        if (const auto x = own_at(h, now + own_ahead)) push(own, h, *x);
      }
      if (!carrier) {
        add_carried(now - 1);
        continue;
      }
      take_arrival(now - 1);
      form(now + ahead);
      add_own(now + own_ahead);
      put(now);
    }
    if (loads) each_local([&](int r) { plan.add(Lane::sum, Wait{r, inputs_read, 1}); });
    plan.tells_inputs_read = loads;
    plan.raw = raw;
    plan.rounds = M - 1;
    plan.chunks = cuts.chunks;
    total_up(plan, Buffer::param, L);
    return std::move(plan);
  }
};

}  // namespace

bool reduce_scatter_is_raw(const Topology& t, const Layout& accumulated, const Layout& gradients,
                           const Options& o) {
  return t.nodes() > 1 &&
         (o.rank_order || t.largest() * gradients.total_bytes() <= accumulated.total_bytes());
}

Plan plan_reduce_scatter(const Topology& t, const Layout& packing, bool raw, const Limits& limits,
                         const Options& options, int rank) {
  if (options.puts_in_flight < 1)
    throw std::invalid_argument("puts_in_flight is " + std::to_string(options.puts_in_flight) +
                                ": give at least 1");
  if (options.rank_order && !raw && t.nodes() > 1)
    throw std::invalid_argument("tide_order = rank on several nodes needs a raw plan");
  return Planner{t, packing, limits, options, rank, Cuts(t, packing, raw, limits, options)}.make();
}

size_t reduce_scatter_workspace_min(const Topology& t, const Layout& packing, bool raw,
                                    const Limits& limits, const Options& options) {
  Options unbounded = options;
  unbounded.workspace_bytes = 0;
  return Cuts(t, packing, raw, limits, unbounded).min_bytes;
}

}  // namespace tide
