// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Lists of parameters and node maps for the planner's tests, and one call that plans and checks a
// case.
#pragma once
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "plan/check.hpp"
#include "plan/plan.hpp"

namespace tide::test {

enum class List { even, uneven, ragged, tiny, blocks, none, thousands };
constexpr List short_lists[] = {List::even, List::uneven, List::ragged,
                                List::tiny, List::blocks, List::none};

// elems: the element sizes that the list's parameters have in turn.
inline Layout layout_of(const Topology& t, List list, const std::vector<uint8_t>& elems,
                        unsigned seed = 1) {
  const int N = t.ranks();
  std::mt19937 random(seed);
  std::vector<Shape> shapes;
  if (list == List::even) shapes = {{3 * N, 2}};
  if (list == List::uneven) shapes = {{2 * N - 1, 3}, {0, 5}, {1, 4}, {N + 1, 1}, {N, 0}};
  if (list == List::tiny) shapes = {{1, 2}};
  if (list == List::blocks) shapes = {{5 * N, 1, 4}, {3, 2, 2}, {N + 2, 3, 1}, {7 * N, 1, 100}};
  if (list == List::ragged) shapes = {{0, 3}, {0, 1}, {0, 2}, {0, 5}};
  for (int p = 0; list == List::thousands && p < 5000; p++)
    shapes.push_back({static_cast<int64_t>(random() % 40), static_cast<int64_t>(random() % 9), 0});
  std::vector<uint8_t> bytes;
  for (size_t p = 0; p < shapes.size(); p++) bytes.push_back(elems[p % elems.size()]);
  if (list != List::ragged) return {t, Rows::chunk(N, shapes), bytes};
  std::vector<int64_t> first;
  for (Shape& s : shapes) {
    int64_t at = 0;
    for (int r = 0; r < N; r++) {
      first.push_back(at);
      at += random() % 3 ? static_cast<int64_t>(random() % 6) : 0;
    }
    first.push_back(s.rows = at);
  }
  return {t, Rows::ragged(N, shapes, first), bytes};
}

struct Case {
  Collective collective = Collective::allgather;
  List list = List::even;
  std::vector<uint8_t> elems = {4};
  Limits limits = {};
  Options options = {};
  bool raw = false;
  unsigned seed = 1;
  bool thorough = true;  // every way to carry it out, else two
};

std::vector<Plan> plans_of(const Topology&, const Layout&, const Case&);
void check_case(const Topology&, const Layout&, const Case&);  // counts towards the coverage
inline void check_case(const Topology& t, const Case& c) {
  check_case(t, layout_of(t, c.list, c.elems, c.seed), c);
}
std::string name(const Topology&, const Case&);

inline std::vector<int> nodes_of(int M, int L) { return std::vector<int>(M, L); }
inline Topology cyclic(int M, int L) {  // communicator ranks dealt out to the nodes in turn
  std::vector<int> node_of;
  for (int r = 0; r < M * L; r++) node_of.push_back(r % M);
  return Topology(node_of);
}
inline std::vector<std::vector<int>> uneven_nodes() {
  return {
      {3, 2}, {1, 8}, {8, 8, 7}, {1, 4, 2}, {2, 1, 2, 1}, {4, 3, 3, 4, 2}, {2, 2, 2, 2, 2, 2, 1}};
}

}  // namespace tide::test
