// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Random machines and carriers, against what can be said without the table's own way of choosing.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "machines.hpp"

namespace tide::test {
namespace {

using Random = std::mt19937;
int below(Random& random, int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); }

struct Case {
  Machine machine;
  std::vector<Location> carriers;
  std::vector<std::set<size_t>> near;  // of each carrier: its nearest NICs
};

std::vector<int> path_to(const Machine& m, int place) {
  std::vector<int> path;
  for (; place >= 0; place = m.places[static_cast<size_t>(place)].parent)
    path.insert(path.begin(), place);
  return path;
}

// NICs and GPUs anywhere in a random tree; a carrier is at a GPU of its own.
Case random_case(uint32_t seed) {
  Random random(seed);
  Case c;
  Machine& m = c.machine;
  const int places = 1 + below(random, 12);
  while (static_cast<int>(m.places.size()) < places)  // packages only: no NIC is beside a GPU
    add_place(m, Place::package, below(random, static_cast<int>(m.places.size())));
  for (int n = 1 + below(random, 6); n > 0; n--)
    add_nic(m, "mlx5_" + std::to_string(n), static_cast<PciId>(below(random, 4)),
            below(random, places));
  for (int r = 1 + below(random, 9); r > 0; r--) {
    add_gpu(m, static_cast<PciId>(1000 + r), below(random, places));
    c.carriers.push_back(at_gpu(m.gpus.back().pci));
    const std::vector<int> mine = path_to(m, m.gpus.back().place);
    std::vector<size_t> shared;
    for (const Nic& nic : m.nics) {
      const std::vector<int> its = path_to(m, nic.place);
      size_t same = 0;
      while (same < std::min(mine.size(), its.size()) && mine[same] == its[same]) same++;
      shared.push_back(same);
    }
    std::set<size_t> near;
    for (size_t n = 0; n < shared.size(); n++)
      if (shared[n] == *std::max_element(shared.begin(), shared.end())) near.insert(n);
    c.near.push_back(near);
  }
  return c;
}

// As many carriers as can have a NIC of their own, by augmenting paths.
bool find_nic(const Case& c, size_t carrier, std::set<size_t>& seen,
              std::map<size_t, size_t>& owner) {
  for (size_t n : c.near[carrier]) {
    if (!seen.insert(n).second) continue;
    if (!owner.count(n) || find_nic(c, owner[n], seen, owner)) {
      owner[n] = carrier;
      return true;
    }
  }
  return false;
}

size_t most_nics_in_use(const Case& c) {
  std::map<size_t, size_t> owner;
  for (size_t r = 0; r < c.carriers.size(); r++) {
    std::set<size_t> seen;
    find_nic(c, r, seen, owner);
  }
  return owner.size();
}

// The carriers that have no choice beyond a set of NICs must share that set.
size_t least_load(const Case& c) {
  size_t load = 0;
  for (const std::set<size_t>& nics : c.near) {
    const auto bound =
        static_cast<size_t>(std::count_if(c.near.begin(), c.near.end(), [&](const auto& its) {
          return std::includes(nics.begin(), nics.end(), its.begin(), its.end());
        }));
    load = std::max(load, (bound + nics.size() - 1) / nics.size());
  }
  return load;
}

TEST(RailBalance, NearAndSharedOnlyWhereNicsAreFew) {
  for (uint32_t seed = 0; seed < 3000; seed++) {
    const Case c = random_case(seed);
    const RailTable table = rail_table_of_node(c.machine, c.carriers, "");
    ASSERT_EQ(table.rows.size(), c.carriers.size());
    std::map<std::string, size_t> load;
    for (size_t r = 0; r < table.rows.size(); r++) {
      ASSERT_EQ(table.rows[r].devices.size(), 1u);
      const std::string& device = table.rows[r].devices[0];
      load[device]++;
      ASSERT_TRUE(std::any_of(c.near[r].begin(), c.near[r].end(),
                              [&](size_t n) { return c.machine.nics[n].name == device; }))
          << "seed " << seed << " rail " << r << ": " << device << " is not nearest";
    }
    const auto highest = std::max_element(load.begin(), load.end(),
                                          [](auto& a, auto& b) { return a.second < b.second; });
    ASSERT_EQ(highest->second, least_load(c)) << "seed " << seed << ": " << devices_of(table);
    ASSERT_EQ(load.size(), most_nics_in_use(c)) << "seed " << seed << ": " << devices_of(table);
  }
}

TEST(RailBalance, ListsInAnyOrderGiveOneTable) {
  for (uint32_t seed = 0; seed < 500; seed++) {
    Case c = random_case(seed);
    Random random(seed);
    const int each = 1 + below(random, 3);
    const std::string wanted = devices_of(rail_table_of_node(c.machine, c.carriers, "", each));
    std::shuffle(c.machine.nics.begin(), c.machine.nics.end(), random);
    ASSERT_EQ(devices_of(rail_table_of_node(c.machine, c.carriers, "", each)), wanted)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace tide::test
