// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine_read.hpp"
#include "machines.hpp"

namespace tide::test {
namespace {

TEST(WithoutHwloc, TheTransportChooses) {
  MachineOnce machine;
  const RailTable table = rail_table_of_node(machine.get(), std::vector<Location>(2), "");
  EXPECT_TRUE(table.rows.empty());
  EXPECT_EQ(table.why_empty, "this build has no hwloc (TIDE_WITH_HWLOC)");
  EXPECT_EQ(devices_of(rail_table_of_node(machine.get(), std::vector<Location>(2), "eth0,eth1")),
            "eth0 eth1");
}

TEST(WithoutHwloc, AFileIsRefused) {
  expect_message(Kind::unsupported,
                 {"TIDE_HWLOC_XML", TEST_TIDE_MACHINES "/cpu2.xml", "-DTIDE_WITH_HWLOC=ON"},
                 [] { read_machine(TEST_TIDE_MACHINES "/cpu2.xml", "TIDE_HWLOC_XML"); });
}

}  // namespace
}  // namespace tide::test
