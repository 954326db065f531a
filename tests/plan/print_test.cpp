// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The plans of two nodes with two ranks each, as text.  TIDE_GOLDEN_WRITE=1 writes the files anew:
// read the difference.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cases.hpp"

namespace tide::test {
namespace {

void compare(const std::string& file, const Case& c) {
  const Topology t = Topology::of_sizes({2, 2});
  const Layout y = layout_of(t, List::even, c.elems);
  std::string text;
  const auto plans = plans_of(t, y, c);
  for (int r = 0; r < t.ranks(); r++)
    text += "rank " + std::to_string(r) + "\n" + print(plans[r]) + "\n";
  const std::string path = std::string(TIDE_GOLDEN_DIR) + "/" + file;
  if (std::getenv("TIDE_GOLDEN_WRITE")) std::ofstream(path) << text;
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

TEST(Print, Allgather) { compare("allgather_2x2.txt", {Collective::allgather, List::even, {2}}); }
TEST(Print, ReduceScatter) {
  Case c{Collective::reduce_scatter, List::even, {4}};
  c.options.workspace_bytes = 4 * 7 * 4;  // slices of four elements
  compare("reduce_scatter_2x2.txt", c);
}
TEST(Print, ReduceScatterRaw) {
  Case c{Collective::reduce_scatter, List::even, {2}};
  c.raw = true;
  compare("reduce_scatter_raw_2x2.txt", c);
}

}  // namespace
}  // namespace tide::test
