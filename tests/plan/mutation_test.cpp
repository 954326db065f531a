// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Drops every wait of every rank in turn.  The checker has to find each one, or the wait is in the
// list of redundant ones with the reason, after every way to carry out the plans has stayed clean.
#include <cstdio>
#include <map>

#include "cases.hpp"

namespace tide::test {
namespace {

struct Redundant {  // a wait that nothing needs in this case, how often, and why
  int index;
  bool self;
  int times;
  const char* reason;
};
struct Mutation {
  const char* what;
  std::vector<int> sizes;
  Case c;
  size_t scale = 0;  // of the smallest workspace
  std::vector<Redundant> redundant = {};
};
constexpr const char* own_lane =
    "a lane need not wait for itself; kept so that the counters of all local ranks are treated "
    "alike";
constexpr const char* granted_before =
    "the peer grants all rounds first, and its put of an earlier round was waited for";
constexpr const char* has_entered = "the carrier has passed a piece of its own since it entered";
constexpr const char* no_reads =
    "the peer has no rail and reads no gradients, or its last layer_here came after its last read";
constexpr const char* last_slots = "no later chunk of this call uses the landing slot again";
constexpr const char* nothing_before =
    "this rank does nothing to its peers before it hears of them";

bool clean(const Topology& t, const Layout& y, const std::vector<Plan>& plans, const Case& c,
           CheckOptions o) {
  try {
    check(t, y, plans, c.limits, o);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}
bool found(const Topology& t, const Layout& y, const std::vector<Plan>& plans, const Case& c) {
  CheckOptions o{.collective = c.collective, .rank_order = c.options.rank_order, .balance = false};
  if (!clean(t, y, plans, c, o)) return true;
  for (unsigned seed = 1; seed <= 4; seed++)
    for (int way = 0; way < 3; way++) {
      o.seed = seed;
      o.clocks = way == 0;
      o.single_queue = way == 1;
      o.random = way != 1;
      if (!clean(t, y, plans, c, o)) return true;
    }
  return false;
}

void drop_every_wait(const Mutation& x) {
  SCOPED_TRACE(x.what);
  const Topology t = Topology::of_sizes(x.sizes);
  Case c = x.c;
  const Layout y = layout_of(t, c.list, c.elems);
  if (x.scale)
    c.options.workspace_bytes =
        x.scale * reduce_scatter_workspace_min(t, y, c.raw, c.limits, c.options);
  std::vector<Plan> plans = plans_of(t, y, c);
  ASSERT_FALSE(found(t, y, plans, c));
  size_t dropped = 0, seen = 0;
  std::map<std::pair<int, bool>, int> missed;  // by index, and whether a rank waits for itself
  for (int r = 0; r < t.ranks(); r++)
    for (auto& lane : plans[r].lanes)
      for (Op& op : lane) {
        auto* w = std::get_if<Wait>(&op);
        if (!w) continue;
        const uint64_t until = std::exchange(w->until, 0);
        const bool was_found = found(t, y, plans, c);
        w->until = until;
        dropped++;
        seen += was_found;
        if (!was_found) missed[{w->index, w->peer == r}]++;
      }
  std::printf("%s: %zu waits dropped one by one, %zu found\n", x.what, dropped, seen);
  for (const Redundant& one : x.redundant) {
    std::printf("  %d redundant of index %d: %s\n", one.times, one.index, one.reason);
    EXPECT_EQ((missed[{one.index, one.self}]), one.times) << "index " << one.index;
    missed.erase({one.index, one.self});
  }
  for (const auto& [what, times] : missed)
    ADD_FAILURE() << "not found: index " << what.first << (what.second ? " of itself" : "") << ", "
                  << times << " times";
}

Case gather(bool stores, size_t chunk, bool sync = false) {
  Case c{Collective::allgather, List::even, {4}};
  c.limits.peer_stores = stores;
  c.limits.sync_in_plan = sync;
  c.options.chunk_bytes = chunk;
  return c;
}
Case reduce(bool raw, bool loads, bool switched = false, bool rank_order = false,
            bool sync = false) {
  Case c{Collective::reduce_scatter, List::even, {4}};
  c.raw = raw;
  c.limits.peer_loads = loads;
  c.limits.switch_sum = switched;
  c.limits.sync_in_plan = sync;
  c.options.rank_order = rank_order;
  c.options.chunk_bytes = 8;
  return c;
}

TEST(Mutation, Allgather) {
  drop_every_wait(
      {"all-gather {2 2 2}", {2, 2, 2}, gather(true, 8), 0, {{granted, false, 6, granted_before}}});
  drop_every_wait({"all-gather {3 2}, whole rounds", {3, 2}, gather(true, 1000)});
  drop_every_wait({"all-gather {1 1 1 1 1}",
                   nodes_of(5, 1),
                   gather(true, 1000),
                   0,
                   {{granted, false, 5, granted_before}}});
}
TEST(Mutation, AllgatherWithoutPeerStores) {
  drop_every_wait({"all-gather without peer stores {2 2 2}",
                   {2, 2, 2},
                   gather(false, 8),
                   0,
                   {{granted, false, 6, granted_before}}});
  drop_every_wait({"all-gather without peer stores {3 2}", {3, 2}, gather(false, 8)});
  Case ragged = gather(false, 8);
  ragged.list = List::ragged;
  drop_every_wait({"all-gather without peer stores {3}, ragged", {3}, ragged});
}
TEST(Mutation, EagerAllgatherWithoutPeerStores) {
  Case c = gather(false, 8);
  c.options.eager_bytes = SIZE_MAX;
  const std::vector<Redundant> passed = {{arrived, false, 6, has_entered}};
  drop_every_wait({"eager all-gather without peer stores {2 2 2}", {2, 2, 2}, c, 0, passed});
  drop_every_wait({"eager all-gather without peer stores {3 2}", {3, 2}, c, 0, passed});
  c.list = List::tiny;
  drop_every_wait({"eager all-gather without peer stores {2 2 2}, one row", {2, 2, 2}, c});
}
TEST(Mutation, EagerRoundsAndCopies) {
  const Topology t = Topology::of_sizes({2, 3, 2});
  Case c = gather(true, 8);
  c.options.eager_bytes = SIZE_MAX;
  const Layout y = layout_of(t, c.list, c.elems);
  const std::vector<Plan> plans = plans_of(t, y, c);
  ASSERT_FALSE(found(t, y, plans, c));
  for (int r = 0; r < t.ranks(); r++) {
    std::vector<Plan> broken = plans;
    broken[r].before_entry.clear();
    EXPECT_TRUE(found(t, y, broken, c)) << "no own shard of rank " << r;
    for (size_t k = 0; k < plans[r].eager.size(); k++) {
      broken = plans;
      broken[r].eager[k].place += 4;
      EXPECT_TRUE(found(t, y, broken, c)) << "place in round " << k << " of rank " << r;
      broken = plans;
      broken[r].eager[k].send -= 4;
      EXPECT_TRUE(found(t, y, broken, c)) << "size in round " << k << " of rank " << r;
    }
  }
}
TEST(Mutation, AllgatherWithSync) {
  drop_every_wait({"all-gather with sync {2 2}", {2, 2}, gather(true, 8, true)});
}
TEST(Mutation, ReduceScatter) {
  drop_every_wait({"reduce-scatter {2 2 2}",
                   {2, 2, 2},
                   reduce(false, true),
                   2,
                   {{inputs_read, true, 6, own_lane}}});
  drop_every_wait({"reduce-scatter {1 3 2}",
                   {1, 3, 2},
                   reduce(false, true),
                   2,
                   {{inputs_read, true, 6, own_lane},
                    {inputs_read, false, 6, no_reads},
                    {layer_read, false, 4, last_slots}}});
  drop_every_wait({"reduce-scatter {1 1 1 1}",
                   nodes_of(4, 1),
                   reduce(false, true),
                   1,
                   {{inputs_read, true, 4, own_lane}}});
}
TEST(Mutation, ReduceScatterWithoutPeerLoads) {
  drop_every_wait(
      {"reduce-scatter without peer loads {2 2 2}", {2, 2, 2}, reduce(false, false), 2});
  drop_every_wait({"reduce-scatter without peer loads {3}", {3}, reduce(false, false)});
}
TEST(Mutation, ReduceScatterRaw) {
  drop_every_wait({"raw reduce-scatter {2 2 2}",
                   {2, 2, 2},
                   reduce(true, true),
                   2,
                   {{inputs_read, true, 6, own_lane}}});
  drop_every_wait({"raw reduce-scatter without peer loads {2 1 2}",
                   {2, 1, 2},
                   reduce(true, false),
                   2,
                   {{layer_read, false, 4, last_slots}}});
  drop_every_wait({"reduce-scatter in rank order {2 2}",
                   {2, 2},
                   reduce(true, true, false, true),
                   2,
                   {{inputs_read, true, 4, own_lane}}});
}
TEST(Mutation, ReduceScatterLatin) {
  drop_every_wait({"Latin square {2 2 2}",
                   {2, 2, 2},
                   reduce(false, true, true),
                   2,
                   {{inputs_read, true, 6, own_lane},
                    {inputs_read, false, 6, no_reads},
                    {layer_read, false, 18, last_slots}}});
}
TEST(Mutation, ReduceScatterWithSync) {
  drop_every_wait({"reduce-scatter with sync {3 2}",
                   {3, 2},
                   reduce(false, true, false, false, true),
                   2,
                   {{ready, false, 2, nothing_before},
                    {inputs_read, true, 5, own_lane},
                    {inputs_read, false, 3, no_reads},
                    {layer_read, false, 1, last_slots}}});
}

}  // namespace
}  // namespace tide::test
