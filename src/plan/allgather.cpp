// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// All-gather over M nodes in ceil(log2 M) rounds, for any M (Bruck's rotation; TIDE-AG's paced
// recursive doubling).
//   Stage of carrier (n, i): the rail's blocks of nodes n, n + 1, ..., n + M - 1 (mod M), without
//   padding; block 0 is its own. Round k: have = 2^k blocks are here; put blocks [0, c) to node n -
//   have, c = min(have, M - have), which lands them as its blocks [have, have + c); take the same
//   from node n + have.  M - 1 blocks arrive in all, which is the minimum. A round goes in puts of
//   chunk_bytes; a chunk is landed in the parameters while the next one is under way, and the own
//   block is staged while its first chunks are.
// Eager, for few bytes: a round of the entry's dissemination (core/call.hpp) has the same peers as
// a round here, so the blocks travel with its records, and when all have entered all is in the
// stages.
// A rank's own shard goes to the parameters of all local ranks at once.  Where ranks cannot store
// into each other's parameters it goes through two slots of the owner's stage, and what a rail
// brought is copied out of the carrier's stage by each rank.
#include <stdexcept>

#include "plan/blocks.hpp"

namespace tide {
namespace {

struct Cursor {  // how far a carrier's stage has been landed, over all rounds
  int slot = 1, local = 0;
  size_t offset = 0;  // in the stage, of the shard that is being landed
  size_t done = 0;    // bytes of it that are landed
  uint64_t seen = 0;  // `arrived` signals waited for
};

struct Gather {
  const Topology& t;
  const Layout& y;
  const Limits& limits;
  const Options& o;
  const int rank;
  const int M = t.nodes(), n = t.node(rank), l = t.local(rank), L = t.size(n), g = t.rails();
  const int rail = l % g;
  const bool carrier = l < g && M > 1;
  const bool eager = M > 1 && !limits.sync_in_plan && y.total_bytes() <= o.eager_bytes;
  const size_t ring_bytes = std::max(o.chunk_bytes, largest_elem_bytes(y));
  std::vector<Cursor> cursors = {};
  std::vector<uint64_t> ring_pieces = {};  // of each local rank
  Plan plan = {};

  int node_at(int from, int distance) const { return ((from + distance) % M + M) % M; }
  size_t rotated(int node, int slot, int i) const {  // offset of a block in the stage of (node, i)
    size_t bytes = 0;
    for (int j = 0; j < slot; j++) bytes += block_bytes(t, y, node_at(node, j), i);
    return bytes;
  }
  size_t puts_for(size_t bytes) const { return (bytes + o.chunk_bytes - 1) / o.chunk_bytes; }
  template <class F>
  void each_other(F f) const {
    for (int h = 0; h < L; h++)
      if (h != l) f(t.rank(n, h));
  }
  void exchange(int index) {
    each_other([&](int peer) { plan.add(Lane::copy, Signal{peer, index}); });
    each_other([&](int peer) { plan.add(Lane::copy, Wait{peer, index, 1}); });
  }

  struct Round {
    int k, have, count;
  };
  std::vector<Round> rounds() const {
    std::vector<Round> list;
    for (int have = 1; have < M; have *= 2)
      list.push_back({static_cast<int>(list.size()), have, std::min(have, M - have)});
    return list;
  }

  // Everything that rail peers will put here has a place of its own, so all rounds are granted at
  // once.
  void grant() {
    for (const Round& r : rounds()) {
      const size_t begin = rotated(n, r.have, l), bytes = rotated(n, r.have + r.count, l) - begin;
      if (!bytes) continue;
      const Incoming in{round_0 + r.k, {Buffer::stage, rank, begin}, bytes, o.chunk_bytes};
      plan.add(Lane::rail, Signal{t.rank(node_at(n, r.have), l), granted, in});
    }
  }
  // Ends of the pieces in which local rank h's shard comes to `offset` of the block: where the
  // block's chunks end or, where that would cut an element, before.
  std::vector<size_t> pieces_at(int h, size_t offset) const {
    const int r = t.rank(n, h);
    const size_t size = y.packed_bytes(r);
    std::vector<size_t> ends;
    for (size_t cut = (offset / o.chunk_bytes + 1) * o.chunk_bytes; cut < offset + size;
         cut += o.chunk_bytes)
      if (const size_t end = y.align_down(r, cut - offset); end > (ends.empty() ? 0 : ends.back()))
        ends.push_back(end);
    if (size) ends.push_back(size);
    return ends;
  }
  void stage_own() {
    size_t offset = 0;
    for (int h = rail; h < l; h += g) offset += y.packed_bytes(t.rank(n, h));
    const int to = t.rank(n, rail);
    const auto copy_of = [&](size_t begin, size_t end) {
      return Copy{{Buffer::stage, to, offset + begin}, {Buffer::shard, rank}, {rank, begin, end}};
    };
    const size_t size = y.packed_bytes(rank);
    if (eager) {
      if (size) plan.before_entry.push_back(copy_of(0, size));
      return;
    }
    size_t begin = 0;
    for (const size_t end : pieces_at(l, offset)) {
      plan.add(Lane::copy, copy_of(begin, end));
      plan.add(Lane::copy, Signal{to, staged});
      begin = end;
    }
  }
  // Ranks whose shards the own block holds, and where: what is waited for of their staging.
  struct Staged {
    int rank;
    size_t offset;
    std::vector<size_t> ends;
    uint64_t seen = 0;
  };
  std::vector<Staged> own_block() const {
    std::vector<Staged> shards;
    size_t offset = 0;
    for (int h = l; h < L; h += g) {
      const int r = t.rank(n, h);
      if (y.packed_bytes(r)) shards.push_back({r, offset, pieces_at(h, offset)});
      offset += y.packed_bytes(r);
    }
    return shards;
  }
  void await_staged(std::vector<Staged>& shards, size_t until) {  // the block up to there
    for (Staged& s : shards) {
      if (until <= s.offset) continue;
      const size_t end = std::min(until - s.offset, s.ends.back());
      const auto piece = std::lower_bound(s.ends.begin(), s.ends.end(), end);
      const auto pieces = static_cast<uint64_t>(piece - s.ends.begin()) + 1;
      if (pieces > s.seen) plan.add(Lane::rail, Wait{s.rank, staged, pieces});
      s.seen = pieces;
    }
  }
  // The first round puts a chunk of the own block as soon as it is staged.
  void put(const Round& r) {
    const int to = node_at(n, -r.have), peer = t.rank(to, l);
    const size_t bytes = rotated(n, r.count, l), place = rotated(to, r.have, l);
    std::vector<Staged> shards = r.k ? std::vector<Staged>() : own_block();
    for (size_t at = 0; at < bytes; at += o.chunk_bytes) {
      const size_t size = std::min(o.chunk_bytes, bytes - at);
      await_staged(shards, at + size);
      if (at == 0) plan.add(Lane::rail, Wait{peer, granted, 1});
      plan.add(Lane::rail, Put{peer,
                               round_0 + r.k,
                               {Buffer::stage, peer, place + at},
                               {Buffer::stage, rank, at},
                               size});
    }
    plan.chunks = std::max(plan.chunks, static_cast<int>(puts_for(bytes)));
  }

  // Own shard to this node's parameters.
  void land_own() {
    const Interval own{rank, 0, y.packed_bytes(rank)};
    const int to = limits.peer_stores ? every_local : rank;
    if (own.size()) plan.add(Lane::copy, Copy{{Buffer::param, to}, {Buffer::shard, rank}, own});
    if (!limits.peer_stores && L > 1) pass_round();
  }
  // Without peer stores: piece j of every rank stands in slot j mod 2 of its stage, and the others
  // copy it out.  All ranks walk the pieces in step, so that what is waited for was emitted
  // earlier.
  void pass_round() {
    std::vector<size_t> at(L, 0);
    for (uint64_t j = 0;; j++) {
      std::vector<Interval> piece(L);
      bool any = false;
      for (int h = 0; h < L; h++) {
        const int r = t.rank(n, h);
        const size_t end = std::min(at[h] + ring_bytes, y.packed_bytes(r));
        piece[h] = {r, at[h], y.align_down(r, end)};
        at[h] = piece[h].end;
        any |= piece[h].size() > 0;
      }
      if (!any) return;
      if (piece[l].size()) push(piece[l], j);
      for (int h = 0; h < L; h++)
        if (h != l && piece[h].size()) take(piece[h], j);
    }
  }
  Region ring_slot(int r, uint64_t j) const {
    const int h = t.local(r);
    const size_t base = h < g && M > 1 ? rotated(n, M, h) : 0;
    return {Buffer::stage, r, base + j % 2 * std::min(ring_bytes, y.packed_bytes(r))};
  }
  // The slot of piece j is free once the others have taken piece j - 2.  A peer that has a piece j
  // - 1 said so by passing it; of the others this rank has to hear.
  bool silent(int h, uint64_t j) const { return ring_pieces[h] < j; }
  void push(Interval v, uint64_t j) {
    for (int h = 0; h < L; h++)
      if (h != l && j >= 2 && silent(h, j))
        plan.add(Lane::copy,
                 Wait{t.rank(n, h), gathered_free, j - std::max<uint64_t>(1, ring_pieces[h])});
    plan.add(Lane::copy, Copy{ring_slot(rank, j), {Buffer::shard, rank}, v});
    each_other([&](int peer) { plan.add(Lane::copy, Signal{peer, gathered}); });
  }
  void take(Interval v, uint64_t j) {
    plan.add(Lane::copy, Wait{v.rank, gathered, j + 1});
    plan.add(Lane::copy, Copy{{Buffer::param, rank}, ring_slot(v.rank, j), v});
    if (ring_pieces[t.local(v.rank)] > j + 2 && silent(l, j + 2))
      plan.add(Lane::copy, Signal{v.rank, gathered_free});
  }
  uint64_t pieces_of(int r) const {
    uint64_t count = 0;
    for (size_t at = 0; at < y.packed_bytes(r); count++)
      at = y.align_down(r, std::min(at + ring_bytes, y.packed_bytes(r)));
    return count;
  }

  // Lands what stands below `until` in the stage of carrier i: an element as soon as all its bytes
  // are there.
  void land(int i, size_t until) {
    Cursor& c = cursors[i];
    for (; c.slot < M; c.slot++, c.local = i) {
      const int m = node_at(n, c.slot);
      for (; c.local < t.size(m); c.local += g) {
        const int r = t.rank(m, c.local);
        const size_t size = y.packed_bytes(r);
        const size_t end = y.align_down(r, std::min(size, until - c.offset));
        if (end > c.done)
          plan.add(Lane::copy, Copy{{Buffer::param, limits.peer_stores ? every_local : rank},
                                    {Buffer::stage, t.rank(n, i), c.offset + c.done},
                                    {r, c.done, end}});
        c.done = end;
        if (c.done < size) return;
        c.offset += size;
        c.done = 0;
      }
    }
  }
  // Takes a round chunk by chunk: the rail lane waits for it and tells the copy lanes that land it.
  void take_round(const Round& r) {
    const int from = t.rank(node_at(n, r.have), std::min(l, g - 1));
    size_t most = 0;
    std::vector<size_t> begin(g), end(g);
    for (int i = 0; i < g; i++) {
      if (limits.peer_stores && i != l) continue;
      begin[i] = rotated(n, r.have, i);
      end[i] = rotated(n, r.have + r.count, i);
      most = std::max(most, puts_for(end[i] - begin[i]));
    }
    for (size_t j = 0; j < most; j++) {
      if (carrier && j < puts_for(end[l] - begin[l])) {
        plan.add(Lane::rail, Wait{from, round_0 + r.k, j + 1});
        plan.add(Lane::rail, Signal{rank, arrived});
        if (!limits.peer_stores)
          each_other([&](int peer) { plan.add(Lane::rail, Signal{peer, arrived}); });
      }
      for (int i = 0; i < g; i++) {
        if (j >= puts_for(end[i] - begin[i])) continue;
        plan.add(Lane::copy, Wait{t.rank(n, i), arrived, ++cursors[i].seen});
        land(i, std::min(end[i], begin[i] + (j + 1) * o.chunk_bytes));
      }
    }
  }

  void send_eagerly(const Round& r) {
    const size_t place = rotated(n, r.have, l);
    plan.eager.push_back({rotated(n, r.count, l), rotated(n, r.have + r.count, l) - place, place});
    plan.chunks = 1;
  }
  // A carrier's stage was complete when it entered.
  void take_eager() {
    const auto comes_to = [&](int i) { return rotated(n, M, i) > rotated(n, 1, i); };
    if (carrier && !limits.peer_stores && comes_to(l))
      each_other([&](int peer) { plan.add(Lane::rail, Signal{peer, arrived}); });
    for (int i = 0; i < g; i++) {
      if ((limits.peer_stores && i != l) || !comes_to(i)) continue;
      if (i != l) plan.add(Lane::copy, Wait{t.rank(n, i), arrived, 1});
      land(i, rotated(n, M, i));
    }
  }

  void workspace() {
    if (carrier) plan.need.stage = rotated(n, M, l);
    if (!limits.peer_stores && L > 1) {
      for (int h = 0; h < L; h++) ring_pieces.push_back(pieces_of(t.rank(n, h)));
      plan.need.stage +=
          std::min<uint64_t>(2, ring_pieces[l]) * std::min(ring_bytes, y.packed_bytes(rank));
    }
    cursors.resize(g);
    for (int i = 0; i < g; i++) {
      cursors[i].local = i;
      cursors[i].offset = block_bytes(t, y, n, i);
    }
  }
  Plan make() {
    workspace();
    const auto list = rounds();
    if (carrier && !eager) grant();
    if (limits.sync_in_plan) exchange(ready);
    if (M > 1) stage_own();
    if (carrier && !eager) {
      put(list.front());
    }
    land_own();
    for (const Round& r : list) {
      if (eager) {
        if (carrier) send_eagerly(r);
        continue;
      }
      if (carrier && r.k) put(r);
      take_round(r);
    }
    if (eager) take_eager();
    if (limits.sync_in_plan) exchange(done);
    plan.rounds = static_cast<int>(list.size());
    total_up(plan, Buffer::shard, L);
    return std::move(plan);
  }
};

}  // namespace

Plan plan_allgather(const Topology& t, const Layout& gathered, const Limits& limits,
                    const Options& options, int rank) {
  if (!options.chunk_bytes)
    throw std::invalid_argument("tide_chunk_bytes is 0: give at least 1 byte");
  return Gather{t, gathered, limits, options, rank}.make();
}

}  // namespace tide
