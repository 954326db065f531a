// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cases.hpp"

namespace tide::test {
namespace {

void all_variants(const Topology& t, List list, const std::vector<uint8_t>& elems, unsigned seed) {
  const bool small = t.ranks() <= 24;
  for (const bool stores : {true, false})
    for (const size_t chunk : {size_t{1} << 20, size_t{13}}) {  // 13 cuts elements
      if (!small && chunk == 13 && (t.nodes() + t.rails()) % 4) continue;
      Case c{Collective::allgather, list, elems};
      c.limits.peer_stores = stores;
      c.options.chunk_bytes = chunk;
      c.seed = seed;
      c.thorough = small;
      check_case(t, c);
      if (chunk > 13) {
        Case eager = c;
        eager.options.eager_bytes = SIZE_MAX;
        check_case(t, eager);
      }
      if (!small) continue;
      c.limits.sync_in_plan = true;
      check_case(t, c);
    }
}

TEST(Allgather, EveryNumberOfNodesAndRanks) {
  unsigned seed = 1;
  for (int M = 1; M <= 33; M++)
    for (int L = 1; L <= 8; L++, seed++) {
      const Topology t = Topology::of_sizes(nodes_of(M, L));
      const bool every = t.ranks() <= 12;
      for (const List list : short_lists)
        if (every || static_cast<unsigned>(list) == seed % 6)
          all_variants(t, list,
                       seed % 2 ? std::vector<uint8_t>{2} : std::vector<uint8_t>{8, 2, 4, 1}, seed);
    }
}

TEST(Allgather, UnevenNodes) {
  unsigned seed = 1;
  for (const auto& sizes : uneven_nodes())
    for (const List list : short_lists)
      all_variants(Topology::of_sizes(sizes), list, {2, 8}, seed++);
}

TEST(Allgather, AnyRankPlacement) {
  for (const List list : short_lists) all_variants(cyclic(3, 2), list, {4, 1}, 3);
  all_variants(Topology({4, 1, 4, 4, 1, 0, 1}), List::ragged, {2}, 4);
}

TEST(Allgather, EveryChunkSize) {
  for (size_t chunk = 1; chunk < 40; chunk++)
    for (const bool stores : {true, false}) {
      Case c{Collective::allgather, List::uneven, {8, 2, 4}};
      c.options.chunk_bytes = chunk;
      c.limits.peer_stores = stores;
      check_case(Topology::of_sizes({2, 3, 2}), c);
    }
}

TEST(Allgather, FiveThousandParameters) {
  for (const auto& sizes : {nodes_of(1, 8), nodes_of(4, 2), nodes_of(5, 3), nodes_of(33, 1)})
    for (const bool stores : {true, false}) {
      Case c{Collective::allgather, List::thousands, {2, 4, 8}};
      c.options.chunk_bytes = 10001;
      c.limits.peer_stores = stores;
      check_case(Topology::of_sizes(sizes), c);
    }
}

TEST(Allgather, TakesCeilLog2Rounds) {
  const int want[] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 4};
  for (int M = 1; M <= 9; M++) {
    const Topology t = Topology::of_sizes(nodes_of(M, 1));
    const Plan plan = plan_allgather(t, layout_of(t, List::even, {2}), {}, {}, 0);
    EXPECT_EQ(plan.rounds, want[M]);
    EXPECT_EQ(plan.puts, static_cast<size_t>(want[M]));
    EXPECT_EQ(plan.need.total(), M == 1 ? 0 : plan.put_bytes + 3 * 2 * 2);
  }
}

// Else a rail idles while a large shard is copied.
TEST(Allgather, PutsWhatIsStagedSoFar) {
  const Topology t = Topology::of_sizes({2, 3});  // rank 4 stages behind rank 2's shard
  Options o;
  o.chunk_bytes = 8;
  const Layout y = layout_of(t, List::even, {4});
  for (int r = 0; r < t.ranks(); r++) {
    const Plan plan = plan_allgather(t, y, {}, o, r);
    uint64_t staged_before = 0, all = 0;
    bool put = false;
    for (const Op& op : plan.lanes[static_cast<size_t>(Lane::rail)]) {
      put = put || std::holds_alternative<Put>(op);
      if (const auto* w = std::get_if<Wait>(&op); w && w->index == staged) {
        all++;
        staged_before += !put;
      }
    }
    if (t.local(r) >= t.rails()) continue;
    EXPECT_EQ(staged_before, 1u);
    EXPECT_GT(all, 1u);
  }
}

TEST(Allgather, FewBytesTravelWithTheEntry) {
  const Topology t = Topology::of_sizes({2, 3, 2});
  const Layout y = layout_of(t, List::even, {2});
  Options o;
  for (const bool fits : {false, true})
    for (int r = 0; r < t.ranks(); r++) {
      o.eager_bytes = y.total_bytes() - !fits;
      const Plan plan = plan_allgather(t, y, {}, o, r);
      const bool carrier = t.local(r) < t.rails();
      EXPECT_EQ(plan.eager.size(), fits && carrier ? 2 : 0);
      EXPECT_EQ(plan.before_entry.size(), fits ? 1 : 0);
      EXPECT_EQ(plan.lanes[static_cast<size_t>(Lane::rail)].empty(), fits || !carrier);
      EXPECT_EQ(plan.puts, carrier ? 2 : 0);
      Limits limits;
      limits.sync_in_plan = true;
      EXPECT_TRUE(plan_allgather(t, y, limits, o, r).eager.empty());
    }
}

TEST(Allgather, RefusesNoChunk) {
  const Topology t = Topology::of_sizes({1, 1});
  Options o;
  o.chunk_bytes = 0;
  EXPECT_THROW(plan_allgather(t, layout_of(t, List::even, {2}), {}, o, 0), std::invalid_argument);
}

}  // namespace
}  // namespace tide::test
