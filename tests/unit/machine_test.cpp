// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/machine_read.hpp"
#include "machines.hpp"

namespace tide::test {
namespace {

TEST(Machine, PciIdsInEverySpelling) {
  EXPECT_EQ(parse_pci("0000:1b:00.0"), PciId{0x1b00});
  EXPECT_EQ(parse_pci("0000:1B:1F.7"), PciId{0x1bff});
  EXPECT_EQ(parse_pci("00000001:c1:00.0"), PciId{0x1c100});
  EXPECT_EQ(parse_pci("c1:02.1"), PciId{0xc111});
  EXPECT_EQ(parse_pci("10000:00:00.0"), PciId{0x100000000});
  for (const char* text : {"", "1b", "0000:1b:00", "0000:1b:00.8", "0000:1b:20.0", "0:0:1b:00.0",
                           "mlx5_0", "0000:1b:00.0 ", " 0000:1b:00.0", "0000:1g:00.0",
                           "0000:1bc:00.0", "000000000:1b:00.0", "0000:-1:00.0", ":1b:00.0"})
    EXPECT_FALSE(parse_pci(text)) << text;
  for (const char* text : {"0000:00:00.0", "0000:1b:1f.7", "ffff:ff:1f.7", "10000:01:00.1"})
    EXPECT_EQ(pci_text(*parse_pci(text)), text);
  EXPECT_EQ(pci_text(no_pci), "none");
}

TEST(Machine, TheDeepestPlaceInCommon) {
  Machine m;
  const int numa = add_packages(m, 2)[0];
  const int root = add_place(m, Place::host_bridge, numa);
  const int one = add_place(m, Place::bridge, root), two = add_place(m, Place::bridge, root);
  EXPECT_EQ(common_place(m, one, two), root);
  EXPECT_EQ(common_place(m, one, one), one);
  EXPECT_EQ(common_place(m, one, root), root);
  EXPECT_EQ(common_place(m, numa, two), numa);
  EXPECT_EQ(common_place(m, 4, two), 0);  // the other NUMA node
  EXPECT_EQ(depth(m, 0), 0);
  EXPECT_EQ(depth(m, one), 4);
}

TEST(Machine, WhereARankIsByItsCpus) {
  Machine m;
  const int package = add_place(m, Place::package, 0, 7, {0, 1, 2, 3});
  add_place(m, Place::numa, package, 4, {0, 1});
  add_place(m, Place::numa, package, 5, {2, 3});
  add_place(m, Place::package, 0, 8, {4, 5});
  const auto where = [&](const std::vector<int>& cpus) {
    const Location l = location_on(m, cpus);
    return std::pair(l.package, l.numa);
  };
  EXPECT_EQ(where({1}), std::pair(7, 4));
  EXPECT_EQ(where({2, 3}), std::pair(7, 5));
  EXPECT_EQ(where({1, 2}), std::pair(7, -1));
  EXPECT_EQ(where({4, 5}), std::pair(8, -1));
  EXPECT_EQ(where({0, 4}), std::pair(-1, -1));
  EXPECT_EQ(where({99}), std::pair(-1, -1));
  EXPECT_EQ(where({}), std::pair(-1, -1));
  EXPECT_EQ(place_of(m, location_on(m, {3})), 3);
  EXPECT_EQ(place_of(m, location_on(m, {4})), 4);
  EXPECT_EQ(place_of(m, Location{}), 0);
  EXPECT_EQ(place_of(m, at_numa(99)), 0);
}

TEST(Machine, AGpuWinsIfTheMachineHasIt) {
  Machine m;
  add_packages(m, 2);
  add_gpu(m, 0x100, 4);
  Location location = location_on(m, {0}, 0x100);
  EXPECT_EQ(place_of(m, location), 4);
  location.gpu = 0x200;
  EXPECT_EQ(place_of(m, location), 2);
  EXPECT_EQ(find_gpu(m, no_pci), nullptr);
}

TEST(Machine, UsualLocations) {
  Machine m;
  add_packages(m, 2);
  add_gpu(m, 0x100, 2);
  add_gpu(m, 0x200, 4);
  add_gpu(m, 0x300, 4);
  const auto by_gpu = usual_locations(m, 4, Near::gpu), by_numa = usual_locations(m, 5, Near::numa);
  EXPECT_EQ(by_gpu[1].gpu, 0x200u);
  EXPECT_EQ(by_gpu[3].gpu, 0x100u);
  std::string nodes;
  for (const Location& l : by_numa) nodes += std::to_string(l.numa);
  EXPECT_EQ(nodes, "00011");
  EXPECT_EQ(usual_locations(m, 2, Near::nothing)[1].numa, -1);
  EXPECT_EQ(usual_locations(Machine{}, 2, Near::gpu)[1].gpu, no_pci);
}

TEST(Machine, InterfacesWithoutAWire) {
  for (const char* name : {"lo", "docker0", "veth1a2b", "br-5d1c", "virbr0", "br0", "ifb1", "tun0"})
    EXPECT_TRUE(is_virtual_interface(name)) << name;
  for (const char* name :
       {"eth0", "hsn3", "ib0", "ens1f0np0", "enp65s0", "bridge_nic", "loc0", "br"})
    EXPECT_FALSE(is_virtual_interface(name)) << name;
}

TEST(Machine, InterfacesThatAreDown) {
  const auto root =
      std::filesystem::temp_directory_path() / ("tide_net_" + std::to_string(getpid()));
  const auto down = [&](const std::string& state) {
    std::filesystem::create_directories(root / "eth0");
    std::ofstream(root / "eth0" / "operstate") << state << "\n";
    return interface_is_down("eth0", root.string());
  };
  EXPECT_TRUE(down("down"));
  EXPECT_TRUE(down("lowerlayerdown"));
  EXPECT_TRUE(down("notpresent"));
  EXPECT_FALSE(down("up"));
  EXPECT_FALSE(down("unknown"));
  EXPECT_FALSE(interface_is_down("eth1", root.string()));
  std::filesystem::remove_all(root);
}

TEST(Machine, ALocationTakesTheGpuByItsBusId) {
  Machine m;
  m.live = false;
  const Location location = location_here(m, "0000:1B:00.0");
  EXPECT_EQ(location.gpu, 0x1b00u);
  EXPECT_EQ(location.numa, -1);
  expect_message(Kind::arg, {"'GPU 0'", "0000:1b:00.0"}, [&] { location_here(m, "GPU 0"); });
}

TEST(Machine, CpusOfThisThread) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const std::vector<int> cpus = cpus_here();
  ASSERT_FALSE(cpus.empty());
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(cpus.back()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(cpus_here(), std::vector<int>{cpus.back()});
  Machine m;
  m.live = true;
  add_place(m, Place::numa, 0, 3, {cpus.back()});
  EXPECT_EQ(location_here(m).numa, 3);
  m.live = false;  // a file's machine
  EXPECT_EQ(location_here(m).numa, -1);
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace tide::test
