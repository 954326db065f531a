// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdio>
#include <set>

#include "cases.hpp"

namespace tide::test {
namespace {

struct Coverage : testing::Environment {
  size_t cases = 0, operations = 0, runs = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  void TearDown() override {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("coverage: %zu cases in %zu runs, %zu operations, %.1f seconds\n", cases, runs,
                operations, took.count());
  }
};
Coverage* const coverage = static_cast<Coverage*>(testing::AddGlobalTestEnvironment(new Coverage));

// What crosses a rail is exactly what has to: the other nodes' blocks.
void check_put_bytes(const Topology& t, const Layout& y, const Case& c,
                     const std::vector<Plan>& plans) {
  for (int i = 0; i < t.rails(); i++) {
    size_t put = 0, blocks = 0;
    for (int m = 0; m < t.nodes(); m++) {
      put += plans[t.rank(m, i)].put_bytes;
      for (int l = i; l < t.size(m); l += t.rails())
        blocks += y.packed_bytes(t.rank(m, l)) * (c.raw ? t.ranks() - t.size(m) : t.nodes() - 1);
    }
    EXPECT_EQ(put, t.nodes() == 1 ? 0 : blocks) << "rail " << i;
  }
}

}  // namespace

std::vector<Plan> plans_of(const Topology& t, const Layout& y, const Case& c) {
  std::vector<Plan> plans;
  for (int r = 0; r < t.ranks(); r++)
    plans.push_back(c.collective == Collective::allgather
                        ? plan_allgather(t, y, c.limits, c.options, r)
                        : plan_reduce_scatter(t, y, c.raw, c.limits, c.options, r));
  return plans;
}

std::string name(const Topology& t, const Case& c) {
  std::string s = c.collective == Collective::allgather ? "allgather {" : "reduce_scatter {";
  for (int n = 0; n < t.nodes(); n++) s += std::to_string(t.size(n)) + " ";
  return s + "} list " + std::to_string(static_cast<int>(c.list)) + " elem " +
         std::to_string(c.elems[0]) + " stores " + std::to_string(c.limits.peer_stores) +
         " loads " + std::to_string(c.limits.peer_loads) + " switch " +
         std::to_string(c.limits.switch_sum) + " sync " + std::to_string(c.limits.sync_in_plan) +
         " raw " + std::to_string(c.raw) + " rank_order " + std::to_string(c.options.rank_order) +
         " eager " + std::to_string(c.options.eager_bytes > 0) + " chunk " +
         std::to_string(c.options.chunk_bytes) + " workspace " +
         std::to_string(c.options.workspace_bytes) + " P " +
         std::to_string(c.options.puts_in_flight) + " seed " + std::to_string(c.seed);
}

void check_case(const Topology& t, const Layout& y, const Case& c) {
  SCOPED_TRACE(name(t, c));
  try {
    const std::vector<Plan> plans = plans_of(t, y, c);
    // Latin slices change rails on the way to their destination; their sum over the rails is the
    // same.
    if (!c.limits.switch_sum) check_put_bytes(t, y, c, plans);
    CheckOptions o{.collective = c.collective, .rank_order = c.options.rank_order, .seed = c.seed};
    std::vector<CheckOptions> ways;
    auto way = [&](bool clocks, bool single, bool two_sided, bool random) {
      o.clocks = clocks, o.single_queue = single, o.two_sided = two_sided, o.random = random;
      ways.push_back(o);
    };
    way(true, false, false, c.thorough);
    way(false, true, false, c.thorough);
    if (c.thorough)
      way(false, false, false, true), way(true, true, true, true), way(false, false, true, true);
    for (CheckOptions& w : ways) {
      w.calls = c.thorough ? 3 : t.ranks() > 128 ? 1 : 2;
      coverage->operations += check(t, y, plans, c.limits, w).operations;
      coverage->runs++;
      w.seed++;
    }
    coverage->cases++;
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
}

}  // namespace tide::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
