// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "machines.hpp"

namespace tide::test {
namespace {

std::string devices(const Machine& m, const std::vector<Location>& carriers, int each = 1) {
  return devices_of(rail_table_of_node(m, carriers, "", each));
}

// Two sockets with a NIC each.
Machine two_sockets() {
  Machine m;
  const auto numa = add_packages(m, 2);
  for (int s = 0; s < 2; s++)
    add_nic(m, "mlx5_" + std::to_string(s), static_cast<PciId>(0x100 * s),
            numa[static_cast<size_t>(s)]);
  return m;
}

// One socket; a PCIe root for each two of the GPUs, a switch for each; GPU g beside NIC nic_of[g].
Machine switches(const std::vector<int>& nic_of) {
  Machine m;
  const int numa = add_packages(m, 1)[0];
  int root = 0;
  for (size_t g = 0; g < nic_of.size(); g++) {
    if (g % 2 == 0) root = add_place(m, Place::host_bridge, numa);
    const int at = add_place(m, Place::bridge, root);
    add_gpu(m, 0x10 + g, at);
    add_nic(m, "mlx5_" + std::to_string(nic_of[g]), static_cast<PciId>(0x1000 * nic_of[g]), at);
  }
  return m;
}

TEST(RailTable, RanksOfASocketUseItsNic) {
  const RailTable table =
      rail_table_of_node(two_sockets(), {at_numa(0), at_numa(1), at_numa(1), at_numa(0)}, "");
  EXPECT_EQ(devices_of(table), "mlx5_0 mlx5_1 mlx5_1 mlx5_0");
  for (const RailRow& row : table.rows) EXPECT_EQ(row.reason, "same NUMA node");
}

TEST(RailTable, APackageIsLessThanANumaNode) {
  const Machine m = two_sockets();
  Location package_1;
  package_1.package = 1;
  const RailTable table = rail_table_of_node(m, {package_1}, "");
  EXPECT_EQ(devices_of(table), "mlx5_1");
  EXPECT_EQ(table.rows[0].reason, "same package");
}

TEST(RailTable, OneNicIsSharedByAll) {
  Machine m = two_sockets();
  m.nics.pop_back();
  const RailTable table = rail_table_of_node(m, {at_numa(0), at_numa(1), Location{}}, "");
  EXPECT_EQ(devices_of(table), "mlx5_0 mlx5_0 mlx5_0");
  EXPECT_EQ(table.rows[0].reason, "same NUMA node");
  EXPECT_EQ(table.rows[1].reason, "the only NIC");
}

TEST(RailTable, NoNicNoTable) {
  Machine m;
  add_packages(m, 2);
  EXPECT_TRUE(rail_table_of_node(m, {at_numa(0)}, "").rows.empty());
  EXPECT_EQ(rail_table_of_node(m, {at_numa(0)}, "").why_empty, "hwloc sees no NIC here");
  add_nic(m, "mlx5_0", 0, 2).up = false;
  EXPECT_TRUE(rail_table_of_node(m, {at_numa(0)}, "").rows.empty());
  EXPECT_EQ(rail_table_of_node(m, {at_numa(0)}, "").why_empty, "every NIC is down");
  m.nothing_known = "no hwloc";
  EXPECT_EQ(rail_table_of_node(m, {at_numa(0)}, "").why_empty, "no hwloc");
}

TEST(RailTable, UnknownRanksTakeTurns) {
  const RailTable table = rail_table_of_node(two_sockets(), std::vector<Location>(5), "");
  EXPECT_EQ(devices_of(table), "mlx5_0 mlx5_1 mlx5_0 mlx5_1 mlx5_0");
  EXPECT_EQ(table.rows[4].reason, "round robin");
}

TEST(RailTable, RanksThatAreUnknownLeaveNearNicsToOthers) {
  EXPECT_EQ(devices(two_sockets(), {Location{}, at_numa(0)}), "mlx5_1 mlx5_0");
}

TEST(RailTable, GpusUseTheNicBehindTheirSwitchWhateverItsNumber) {
  std::vector<int> nic_of{0, 1, 2, 3};
  do {
    const Machine m = switches(nic_of);
    const RailTable table =
        rail_table_of_node(m, {at_gpu(0x10), at_gpu(0x11), at_gpu(0x12), at_gpu(0x13)}, "");
    std::string wanted;
    for (int nic : nic_of) wanted += (wanted.empty() ? "mlx5_" : " mlx5_") + std::to_string(nic);
    EXPECT_EQ(devices_of(table), wanted);
    EXPECT_EQ(table.rows[3].reason, "nearest to GPU 3 (same PCIe switch)");
  } while (std::next_permutation(nic_of.begin(), nic_of.end()));
}

TEST(RailTable, ReasonsForGpus) {
  Machine m = switches({0, 1});
  m.nics.pop_back();
  EXPECT_EQ(rail_table_of_node(m, {at_gpu(0x11)}, "").rows[0].reason,
            "nearest to GPU 1 (same PCIe root)");
  m.nics[0].place = 2;
  EXPECT_EQ(rail_table_of_node(m, {at_gpu(0x11)}, "").rows[0].reason,
            "nearest to GPU 1 (same NUMA node)");
  m.nics[0].place = 1;
  EXPECT_EQ(rail_table_of_node(m, {at_gpu(0x11)}, "").rows[0].reason,
            "nearest to GPU 1 (same package)");
  m.nics[0].place = 0;
  EXPECT_EQ(rail_table_of_node(m, {at_gpu(0x11)}, "").rows[0].reason,
            "nearest to GPU 1 (same machine)");
}

TEST(RailTable, TwoGpusAndTwoNicsBehindOneSwitch) {
  Machine m = switches({0, 1});
  m.nics[1].place = m.nics[0].place;  // both beside GPU 0
  EXPECT_EQ(devices(m, {at_gpu(0x10), at_gpu(0x10), at_gpu(0x10)}), "mlx5_0 mlx5_1 mlx5_0");
}

TEST(RailTable, SeveralDevicesForARail) {
  const Machine m = switches({3, 2, 1, 0});
  const std::vector<Location> all{at_gpu(0x10), at_gpu(0x11), at_gpu(0x12), at_gpu(0x13)};
  EXPECT_EQ(devices(m, all, 2), "mlx5_3+mlx5_2 mlx5_2+mlx5_3 mlx5_1+mlx5_0 mlx5_0+mlx5_1");
  EXPECT_EQ(devices(m, {at_gpu(0x10)}, 4), "mlx5_3+mlx5_2+mlx5_0+mlx5_1");
  EXPECT_EQ(devices(m, {at_gpu(0x10)}, 99), "mlx5_3+mlx5_2+mlx5_0+mlx5_1");
  EXPECT_EQ(devices(m, {Location{}, Location{}}, 2), "mlx5_0+mlx5_2 mlx5_1+mlx5_3");
  expect_message(Kind::arg, {"0 devices", "1 or more"}, [&] { devices(m, all, 0); });
}

TEST(RailTable, TheOrderOfNicsInTheListDoesNotMatter) {
  Machine m;
  const auto numa = add_packages(m, 2);
  for (int n = 0; n < 6; n++)  // two and two have the same bus id
    add_nic(m, "mlx5_" + std::to_string(n), static_cast<PciId>(n / 2),
            numa[static_cast<size_t>(n % 2)]);
  const std::vector<Location> carriers{at_numa(1), at_numa(0), Location{}, at_numa(1), at_numa(1)};
  const std::string wanted = devices(m, carriers, 2);
  const auto by_name = [](const Nic& a, const Nic& b) { return a.name < b.name; };
  do {
    ASSERT_EQ(devices(m, carriers, 2), wanted);
  } while (std::next_permutation(m.nics.begin(), m.nics.end(), by_name));
}

TEST(RailTable, WorseNicsAreLeftOutOnlyWhereBetterOnesAre) {
  Machine m = two_sockets();
  Nic& ethernet = add_nic(m, "eno1", 0x1, m.nics[0].place);
  ethernet.kind = Nic::ethernet;
  Nic& down = add_nic(m, "mlx5_9", 0x2, m.nics[0].place);
  down.up = false;
  const std::vector<Location> three(3, at_numa(0));
  EXPECT_EQ(devices(m, three), "mlx5_0 mlx5_0 mlx5_0");
  EXPECT_EQ(why_no_rail(m),
            (std::vector<std::string>{"", "", "others have verbs or are Slingshot", "down"}));
  m.nics[0].up = m.nics[1].up = false;
  EXPECT_EQ(devices(m, three), "eno1 eno1 eno1");
}

TEST(RailTable, SlowLinksAreForManagement) {
  Machine m = two_sockets();
  for (Nic& nic : m.nics) nic.kind = Nic::ethernet;
  m.nics[0].link_gbytes_per_s = 2;
  m.nics[1].link_gbytes_per_s = 15.75;
  EXPECT_EQ(devices(m, {at_numa(0)}), "mlx5_1");
  m.nics[0].link_gbytes_per_s = 0;  // unknown
  EXPECT_EQ(devices(m, {at_numa(0)}), "mlx5_0");
  m.nics[0].link_gbytes_per_s = 15.753846;  // two generations apart
  m.nics[1].link_gbytes_per_s = 63.015385;
  EXPECT_EQ(devices(m, {at_numa(0)}), "mlx5_0");
}

// An entry exchanges records in rounds of which each doubles its reach.
TEST(RailTable, RefusesMoreNodesThanAnEntryReaches) {
  EXPECT_NO_THROW(check_node_count(1));
  EXPECT_NO_THROW(check_node_count(65536));
  try {
    check_node_count(65537);
    FAIL() << "65537 nodes were not refused";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Kind::unsupported);
    EXPECT_NE(std::string(e.what()).find("65537 nodes, Tide joins at most 65536"),
              std::string::npos)
        << e.what();
  }
}

TEST(RailTable, StorageIsNotBesideAGpu) {
  Machine m = switches({0, 1});
  add_nic(m, "storage", 0, 2);
  const std::vector<Location> three(3, at_numa(0));
  EXPECT_EQ(devices(m, three), "mlx5_0 mlx5_1 mlx5_0");
  EXPECT_EQ(why_no_rail(m)[2], "others are beside a GPU");
  // On a package without such NICs it is as good as any.
  const int numa = add_place(m, Place::numa, add_place(m, Place::package, 0, 1), 1);
  m.nics[2].place = numa;
  EXPECT_EQ(devices(m, {at_numa(1)}), "storage");
}

}  // namespace
}  // namespace tide::test
