// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a reduce-scatter's workspace may be.
#include "cases.hpp"

namespace tide::test {
namespace {

constexpr size_t kib = 1 << 10, mib = 1 << 20;

Layout of_shard_bytes(const Topology& t, size_t bytes, uint8_t elem) {
  return {t, Rows::chunk(t.ranks(), {{static_cast<int64_t>(bytes / elem) * t.ranks(), 1}}), {elem}};
}
size_t largest_need(const Topology& t, const Layout& y, bool raw, const Limits& limits,
                    const Options& o) {
  size_t most = 0;
  for (const int r : {0, t.ranks() - 1})
    most = std::max(most, plan_reduce_scatter(t, y, raw, limits, o, r).need.total());
  return most;
}

TEST(Workspace, FlatInTheNumberOfNodes) {
  struct {
    int L;
    bool raw, switched;
  } const ways[] = {{2, false, false}, {1, true, false}, {8, false, true}};
  for (const auto& way : ways)
    for (size_t S = kib; S <= 1024 * mib; S *= 4) {
      Limits limits;
      limits.switch_sum = way.switched;
      auto need = [&](int M) {
        const Topology t = Topology::of_sizes(nodes_of(M, way.L));
        const size_t bytes = S + S / 3 / 4 * 4;  // no power of two
        return plan_reduce_scatter(t, of_shard_bytes(t, bytes, 4), way.raw, limits, {}, 0)
            .need.total();
      };
      size_t before = need(4);
      EXPECT_LE(need(2), before) << S;
      for (const int M : {5, 6, 7, 8, 9, 12, 16, 17, 25, 33}) {
        const size_t now = need(M);
        EXPECT_LE(now, before) << S << " bytes on " << M << " nodes";
        before = now;
      }
    }
}

TEST(Workspace, StaysInsideItsBudget) {
  unsigned seed = 1;
  for (const auto& sizes :
       {nodes_of(2, 1), nodes_of(2, 4), nodes_of(5, 3), nodes_of(9, 2), {3, 1, 2}})
    for (int way = 0; way < 6; way++) {
      const Topology t = Topology::of_sizes(sizes);
      Limits limits;
      limits.peer_loads = way % 2 == 0;
      limits.switch_sum = way >= 4;
      const bool raw = way / 2 == 1;
      const Layout y = layout_of(t, short_lists[seed % 5], {4, 8}, seed);
      seed++;
      Options o;
      const size_t least = reduce_scatter_workspace_min(t, y, raw, limits, o);
      for (size_t W = least; W < 64 * kib; W += W / 3 + 1) {
        o.workspace_bytes = W;
        for (const int r : {0, t.ranks() - 1}) {
          const Workspace need = plan_reduce_scatter(t, y, raw, limits, o, r).need;
          EXPECT_LE(raw ? need.total() : need.landing + need.partial, W);
        }
      }
      o.workspace_bytes = least - 1;
      try {
        plan_reduce_scatter(t, y, raw, limits, o, 0);
        ADD_FAILURE() << "a workspace of " << o.workspace_bytes << " was accepted";
      } catch (const std::invalid_argument& e) {
        EXPECT_NE(std::string(e.what()).find(std::to_string(least)), std::string::npos) << e.what();
      }
    }
}

TEST(Workspace, DefaultFollowsTheShard) {
  const Topology t = Topology::of_sizes(nodes_of(8, 2));
  const size_t want[][2] = {
      {64 * kib, mib}, {4 * mib, 2 * mib}, {64 * mib, 32 * mib}, {1024 * mib, 64 * mib}};
  for (const auto& [S, W] : want) {
    const size_t need = largest_need(t, of_shard_bytes(t, S, 4), false, {}, {});
    EXPECT_LE(need, W);
    EXPECT_GE(need, W - W / 16);
  }
}

TEST(Workspace, OneNodeNeedsNone) {
  const Topology t = Topology::of_sizes({8});
  const Layout y = of_shard_bytes(t, 10 * mib, 4);
  EXPECT_EQ(largest_need(t, y, false, {}, {}), 0u);
  EXPECT_EQ(reduce_scatter_workspace_min(t, y, false, {}, {}), 0u);
  Limits pushes;
  pushes.peer_loads = false;
  EXPECT_EQ(largest_need(t, y, false, pushes, {}), 2u * 8 * mib);
}

// With room for a partial for every destination the gradients are read before anything is waited
// for.
TEST(Workspace, MoreOfItReadsGradientsEarlier) {
  const Topology t = Topology::of_sizes(nodes_of(4, 2));
  const Layout y = of_shard_bytes(t, 8 * mib, 4);
  auto read_by =
      [&](size_t W) {  // share of the sum lane that stands before the last read of gradients
        Options o;
        o.workspace_bytes = W;
        const Plan plan = plan_reduce_scatter(t, y, false, {}, o, 0);
        const auto& sums = plan.lanes[static_cast<size_t>(Lane::sum)];
        size_t waits = 0;
        for (size_t i = 0; i < plan.inputs[static_cast<size_t>(Lane::sum)]; i++)
          if (const auto* w = std::get_if<Wait>(&sums[i])) waits += w->index == partial_free;
        return waits;
      };
  EXPECT_GT(read_by(0), 10u);
  EXPECT_LT(read_by(16 * mib), read_by(8 * mib));
  EXPECT_EQ(read_by(64 * mib), 0u);
}

}  // namespace
}  // namespace tide::test
