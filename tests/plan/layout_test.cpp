// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <thread>

#include "cases.hpp"

namespace tide::test {
namespace {

TEST(Rows, ChunkRule) {
  const auto rows = Rows::chunk(8, {{10, 3}, {0, 3}, {17, 1, 4}, {3, 1, 100}});
  const std::vector<int64_t> first = {0,  2,  4,  6, 8,
                                      10, 10, 10, 10};  // R = 2, the last three own nothing
  const std::vector<int64_t> blocks = {0, 4, 8, 12, 16, 17, 17, 17, 17};
  for (int r = 0; r <= 8; r++) {
    EXPECT_EQ(rows->first(0, r), first[r]);
    EXPECT_EQ(rows->first(1, r), 0);
    EXPECT_EQ(rows->first(2, r), blocks[r]);
    EXPECT_EQ(rows->first(3, r), r ? 3 : 0);
  }
}

TEST(Rows, Ragged) {
  const auto rows = Rows::ragged(3, {{7, 2}, {2, 1}}, {0, 0, 5, 7, 0, 2, 2, 2});
  EXPECT_EQ(rows->count(0, 0), 0);
  EXPECT_EQ(rows->count(0, 1), 5);
  EXPECT_EQ(rows->count(0, 2), 2);
  EXPECT_EQ(rows->count(1, 0), 2);
}

// The pieces of all ranks' packed shards cover every element of every parameter once, however an
// interval is cut.
TEST(Layout, PiecesTileTheParameters) {
  for (const List list : {List::even, List::uneven, List::ragged, List::tiny, List::blocks,
                          List::none, List::thousands})
    for (const Topology& t :
         {Topology::of_sizes({3, 2, 4}), cyclic(2, 3), Topology::of_sizes({1})}) {
      const Layout y = layout_of(t, list, {2, 8, 1, 4}, 7);
      std::vector<std::vector<int>> seen(y.params());
      for (int p = 0; p < y.params(); p++)
        seen[p].resize(y.rows().shape(p).rows * y.rows().shape(p).row_elems);
      size_t total = 0;
      for (int r = 0; r < y.ranks(); r++) {
        total += y.packed_bytes(r);
        for (size_t at = 0, next; at < y.packed_bytes(r); at = next) {
          next = y.align_down(r, std::min(y.packed_bytes(r), at + 1 + (at * 7 + 8) % 61));
          if (next <= at) next = y.align_down(r, std::min(y.packed_bytes(r), at + 8));
          size_t packed = at;
          y.for_each_piece({r, at, next}, [&](const Piece& x) {
            EXPECT_EQ(x.packed, packed);
            EXPECT_GT(x.elems, 0u);
            EXPECT_EQ(
                x.elem - x.shard_elem,
                static_cast<size_t>(y.first_row(x.param, r) * y.rows().shape(x.param).row_elems));
            EXPECT_LE(
                x.shard_elem + x.elems,
                static_cast<size_t>(y.row_count(x.param, r) * y.rows().shape(x.param).row_elems));
            for (size_t i = 0; i < x.elems; i++) seen[x.param].at(x.elem + i)++;
            packed += x.elems * y.elem_bytes(x.param);
          });
          EXPECT_EQ(packed, next);
        }
      }
      EXPECT_EQ(total, y.total_bytes());
      for (const auto& one : seen)
        for (const int count : one) ASSERT_EQ(count, 1);
    }
}

TEST(Layout, AlignsDownToElements) {
  const Topology t = Topology::of_sizes({1});
  const Layout y(t, Rows::chunk(1, {{2, 1}, {0, 1}, {1, 2}}), {2, 4, 8});  // 2 2 8 8 bytes
  const size_t want[] = {0, 0, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 12, 12, 12, 12, 12, 12, 12, 12, 20};
  for (size_t at = 0; at <= 20; at++) EXPECT_EQ(y.align_down(0, at), want[at]) << at;
}

TEST(Layout, HugeParameters) {
  const Topology t = Topology::of_sizes({2, 2});
  const int64_t side = int64_t{1} << 20;
  const Layout y(t, Rows::chunk(4, {{side, side}, {side + 1, 1}}), {8, 2});
  EXPECT_EQ(y.packed_bytes(3), (size_t{1} << 41) + 2 * (side - 3 * (side / 4 + 1) + 1));
  size_t last = 0;
  y.for_each_piece({3, (size_t{1} << 41) - 8, y.packed_bytes(3)},
                   [&](const Piece& x) { last = x.elem + x.elems; });
  EXPECT_EQ(last, static_cast<size_t>(side + 1));
  EXPECT_EQ(y.align_down(2, (size_t{1} << 40) + 9), (size_t{1} << 40) + 8);
  EXPECT_EQ(plan_reduce_scatter(t, y, false, {}, {}, 3).chunks, 65536);
}

TEST(Layout, OverlongBlocksDoNotOverflow) {
  const auto rows = Rows::chunk(3, {{5, 1, INT64_MAX / 2}});
  EXPECT_EQ(rows->first(0, 1), 5);
  EXPECT_EQ(rows->first(0, 3), 5);
}

TEST(Layout, ManyParametersAndThreads) {
  const Topology t = Topology::of_sizes(nodes_of(33, 8));
  std::vector<Shape> shapes(100000, Shape{1000, 3});
  const Layout y(t, Rows::chunk(t.ranks(), shapes), std::vector<uint8_t>(shapes.size(), 2));
  EXPECT_EQ(y.packed_bytes(0), 100000u * 4 * 3 * 2);
  std::vector<const size_t*> got(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < got.size(); i++) threads.emplace_back([&, i] { got[i] = y.offsets(5); });
  for (auto& one : threads) one.join();
  for (const size_t* one : got) {
    EXPECT_EQ(one, got[0]);
    EXPECT_EQ(one[100000], y.packed_bytes(5));
  }
}

TEST(Topology, NodeMajorPositions) {
  const Topology t({4, 1, 4, 4, 1, 0, 1});
  EXPECT_EQ(t.nodes(), 3);
  EXPECT_EQ(t.rails(), 1);
  EXPECT_EQ(t.largest(), 3);
  EXPECT_FALSE(t.uniform());
  const std::vector<int> want = {0, 2, 3, 1, 4, 6, 5};
  for (int r = 0; r < 7; r++) {
    EXPECT_EQ(t.comm_rank(r), want[r]);
    EXPECT_EQ(t.position(want[r]), r);
  }
}

}  // namespace
}  // namespace tide::test
