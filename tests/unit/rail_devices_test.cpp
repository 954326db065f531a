// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "machines.hpp"

namespace tide::test {
namespace {

using Devices = std::vector<std::vector<std::string>>;

TEST(RailDevices, OneOrSeveralForALocalRank) {
  EXPECT_EQ(parse_rail_devices(""), Devices{});
  EXPECT_EQ(parse_rail_devices("eth0"), Devices{{"eth0"}});
  EXPECT_EQ(parse_rail_devices("mlx5_0,mlx5_1"), (Devices{{"mlx5_0"}, {"mlx5_1"}}));
  EXPECT_EQ(parse_rail_devices("mlx5_0:1;mlx5_1:1,hsn0"),
            (Devices{{"mlx5_0:1"}, {"mlx5_1:1"}, {"hsn0"}}));
  EXPECT_EQ(parse_rail_devices("mlx5_0+mlx5_1;mlx5_0+ens1f0.4"),
            (Devices{{"mlx5_0", "mlx5_1"}, {"mlx5_0", "ens1f0.4"}}));
}

TEST(RailDevices, WrongTextsAreNamed) {
  const auto refused = [](const std::string& text, const std::string& item,
                          const std::string& why) {
    expect_message(Kind::arg, {"TIDE_RAIL_DEVICES", item, why, "mlx5_0+mlx5_1,mlx5_2"},
                   [&] { parse_rail_devices(text); });
  };
  refused(",", "item 1 of ',', ''", "is empty");
  refused("a,,b", "item 2 of 'a,,b', ''", "is empty");
  refused("a;", "item 2", "is empty");
  refused("a,b+", "item 2 of 'a,b+', 'b+'", "empty name beside a +");
  refused("+", "item 1", "empty name beside a +");
  refused("a, b", "item 2 of 'a, b', ' b'", "character");
  refused("a=b", "item 1", "character");
  refused("a,m\xc3\xa4,b", "item 2", "character");
  refused("a,b+c+b", "item 2 of 'a,b+c+b', 'b+c+b'", "twice");
}

TEST(RailDevices, WinOverTheMachineAndGoRound) {
  Machine m;
  const auto numa = add_packages(m, 1);
  add_nic(m, "mlx5_0", 0, numa[0]).also = {"ib0"};
  add_nic(m, "mlx5_1", 1, numa[0]).up = false;
  const RailTable table =
      rail_table_of_node(m, std::vector<Location>(5, at_numa(0)), "mlx5_1:1,ib0+eth9");
  EXPECT_EQ(devices_of(table), "mlx5_1:1 ib0+eth9 mlx5_1:1 ib0+eth9 mlx5_1:1");
  EXPECT_EQ(table.rows[0].reason, "TIDE_RAIL_DEVICES");
  EXPECT_EQ(table.rows[1].reason, "TIDE_RAIL_DEVICES; hwloc sees no eth9 here");
}

TEST(RailDevices, AreTakenWhereNothingIsKnown) {
  Machine m;
  m.nothing_known = "no hwloc";
  const RailTable table = rail_table_of_node(m, std::vector<Location>(2), "eth1");
  EXPECT_EQ(devices_of(table), "eth1 eth1");
  EXPECT_EQ(table.rows[0].reason, "TIDE_RAIL_DEVICES");
  expect_message(Kind::arg, {"item 1"}, [&] { rail_table_of_node(m, {}, "+"); });
}

}  // namespace
}  // namespace tide::test
