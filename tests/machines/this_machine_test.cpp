// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The machine that the test runs on, whatever it has.
#include <algorithm>
#include <filesystem>

#include "core/machine_read.hpp"
#include "machines.hpp"

namespace tide::test {
namespace {

size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

TEST(ThisMachine, HasTheCpusOfThisProcess) {
  const Machine m = read_machine("", "test");
  ASSERT_TRUE(m.live);
  EXPECT_EQ(m.nothing_known, "");
  std::vector<int> cpus;
  for (const Place& place : m.places)
    if (place.kind == Place::numa) cpus.insert(cpus.end(), place.cpus.begin(), place.cpus.end());
  std::sort(cpus.begin(), cpus.end());
  const std::vector<int> mine = cpus_here();
  EXPECT_TRUE(std::includes(cpus.begin(), cpus.end(), mine.begin(), mine.end()));
}

TEST(ThisMachine, NicsHaveHardwareAndOtherInterfacesHaveNot) {
  setenv("HWLOC_VIRTUAL_LINUX_OSDEV", "1", 1);  // hwloc then lists lo and its like
  const Machine m = read_machine("", "test");
  unsetenv("HWLOC_VIRTUAL_LINUX_OSDEV");
  const std::filesystem::path net = "/sys/class/net";
  for (const auto& entry : std::filesystem::directory_iterator(net)) {
    const std::string name = entry.path().filename();
    const auto nic = std::find_if(m.nics.begin(), m.nics.end(), [&](const Nic& n) {
      return n.name == name || std::find(n.also.begin(), n.also.end(), name) != n.also.end();
    });
    EXPECT_EQ(nic != m.nics.end(), std::filesystem::exists(entry.path() / "device")) << name;
    if (nic != m.nics.end() && nic->name == name) {
      EXPECT_EQ(nic->up, !interface_is_down(name)) << name;
    }
  }
}

TEST(ThisMachine, NothingStaysOpen) {
  read_machine("", "test");
  const size_t before = open_descriptors();
  for (int i = 0; i < 5; i++) read_machine("", "test");
  EXPECT_EQ(open_descriptors(), before);
}

TEST(ThisMachine, HasATableForAnyLocation) {
  const Machine m = read_machine("", "test");
  const RailTable table = rail_table_of_node(m, {location_here(m), Location{}, at_gpu(1)}, "");
  const bool any_up = std::any_of(m.nics.begin(), m.nics.end(), [](const Nic& n) { return n.up; });
  EXPECT_EQ(table.rows.size(), any_up ? 3u : 0u);
  EXPECT_EQ(table.why_empty.empty(), any_up);
}

}  // namespace
}  // namespace tide::test
