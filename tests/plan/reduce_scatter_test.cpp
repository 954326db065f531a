// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cases.hpp"

namespace tide::test {
namespace {

struct Variant {
  bool raw, loads, switched, rank_order;
};
constexpr Variant variants[] = {{false, true, false, false}, {false, false, false, false},
                                {true, true, false, false},  {true, false, false, false},
                                {true, true, false, true},   {true, false, false, true},
                                {false, true, true, false},  {false, false, true, false}};

// scale: how many times the smallest workspace the call may use; 0: the default.
void check_variant(const Topology& t, List list, const Variant& v, size_t scale, unsigned seed,
                   int pace = 2, bool sync = false) {
  Case c{Collective::reduce_scatter, list};
  c.elems = v.raw ? (seed % 2 ? std::vector<uint8_t>{2} : std::vector<uint8_t>{2, 8, 4})
                  : (seed % 2 ? std::vector<uint8_t>{4} : std::vector<uint8_t>{4, 8});
  c.raw = v.raw && t.nodes() > 1;
  c.limits.peer_loads = v.loads;
  c.limits.switch_sum = v.switched;
  c.limits.sync_in_plan = sync;
  c.options.rank_order = v.rank_order && t.nodes() > 1;
  c.options.chunk_bytes = 1 + seed * 7 % 40;
  c.options.puts_in_flight = pace;
  c.seed = seed;
  c.thorough = t.ranks() <= 16;
  const Layout y = layout_of(t, list, c.elems, seed);
  c.options.workspace_bytes =
      scale * reduce_scatter_workspace_min(t, y, c.raw, c.limits, c.options);
  check_case(t, y, c);
}

class ReduceScatterSweep : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Nodes, ReduceScatterSweep, testing::Values(1, 9, 17, 25));

TEST_P(ReduceScatterSweep, EveryNumberOfNodesAndRanks) {
  const int from = GetParam(), to = from == 25 ? 33 : from + 7;
  unsigned seed = static_cast<unsigned>(from);
  for (int M = from; M <= to; M++)
    for (int L = 1; L <= 8; L++) {
      const Topology t = Topology::of_sizes(nodes_of(M, L));
      for (size_t v = 0; v < std::size(variants); v++, seed++) {
        const size_t every = t.ranks() > 64 ? std::size(variants) : t.ranks() > 24 ? 2 : 1;
        if ((M * 3 + L + v) % every) continue;
        const List list = short_lists[seed % 6];
        if (t.ranks() <= 24)
          check_variant(t, list, variants[v], 1 + seed % 3, seed, 1 + static_cast<int>(seed % 3));
        check_variant(t, list, variants[v], 0, seed);
      }
    }
}

TEST(ReduceScatter, EveryListOnSmallShapes) {
  unsigned seed = 1;
  for (int M = 1; M <= 5; M++)
    for (int L = 1; L <= 3; L++)
      for (const List list : short_lists)
        for (const Variant& v : variants) {
          seed++;
          for (const size_t scale : {0, 1, 2, 5})
            check_variant(Topology::of_sizes(nodes_of(M, L)), list, v, scale, seed,
                          1 + static_cast<int>(seed % 4), seed % 5 == 0);
        }
}

TEST(ReduceScatter, UnevenNodes) {
  unsigned seed = 1;
  for (const auto& sizes : uneven_nodes())
    for (const List list : short_lists)
      for (size_t v = 0; v < 6; v++, seed++)
        check_variant(Topology::of_sizes(sizes), list, variants[v], seed % 4, seed, 2,
                      seed % 3 == 0);
}

TEST(ReduceScatter, AnyRankPlacement) {
  unsigned seed = 1;
  for (const Variant& v : variants) {
    check_variant(cyclic(3, 2), List::uneven, v, 2, seed++);
    check_variant(Topology({4, 1, 4, 4, 1, 0, 1}), List::ragged, v, 2, seed++);
  }
}

TEST(ReduceScatter, FiveThousandParameters) {
  for (const auto& sizes : {nodes_of(1, 8), nodes_of(4, 2), nodes_of(5, 3), nodes_of(33, 1)})
    for (const Variant& v : variants) {
      const Topology t = Topology::of_sizes(sizes);
      Case c{Collective::reduce_scatter, List::thousands,
             v.raw ? std::vector<uint8_t>{2, 4} : std::vector<uint8_t>{4, 8}};
      const Layout y = layout_of(t, c.list, c.elems);
      c.raw = v.raw && t.nodes() > 1;
      c.limits.peer_loads = v.loads;
      c.limits.switch_sum = v.switched;
      c.options.rank_order = v.rank_order;
      c.options.chunk_bytes = 100000;
      c.options.workspace_bytes =
          300 * reduce_scatter_workspace_min(t, y, c.raw, c.limits, c.options) + (1 << 18);
      c.thorough = false;
      check_case(t, y, c);
    }
}

TEST(ReduceScatter, RankOrderNeedsRawSlices) {
  const Topology t = Topology::of_sizes({2, 2});
  const Layout y = layout_of(t, List::even, {4});
  Options o;
  o.rank_order = true;
  EXPECT_THROW(plan_reduce_scatter(t, y, false, {}, o, 0), std::invalid_argument);
  EXPECT_TRUE(reduce_scatter_is_raw(t, y, y, o));
  EXPECT_FALSE(reduce_scatter_is_raw(Topology::of_sizes({4}), y, y, o));
  o = {};
  o.puts_in_flight = 0;
  EXPECT_THROW(plan_reduce_scatter(t, y, false, {}, o, 0), std::invalid_argument);
}

TEST(ReduceScatter, RawWhereTheLargestNodeSendsNoMore) {
  const Topology two = Topology::of_sizes({2, 1}), three = Topology::of_sizes({1, 3});
  for (const Topology& t : {two, three})
    EXPECT_EQ(
        reduce_scatter_is_raw(t, layout_of(t, List::even, {4}), layout_of(t, List::even, {2}), {}),
        t.largest() == 2);
}

}  // namespace
}  // namespace tide::test
