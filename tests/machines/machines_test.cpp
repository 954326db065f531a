// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "core/machine_read.hpp"
#include "machines.hpp"

namespace tide::test {
namespace {

std::string path_of(const std::string& name) { return TEST_TIDE_MACHINES "/" + name; }

struct Block {  // of a .rails file
  std::string title;
  int ranks = 0, each = 1;
  Near near = Near::nothing;
  std::vector<std::string> lines;
};

Block block_from(const std::string& title) {
  static const std::map<std::string, Near> near{
      {"gpu", Near::gpu}, {"numa", Near::numa}, {"nothing", Near::nothing}};
  Block block{title};
  std::istringstream words(title);
  std::string word, where;
  words >> word >> block.ranks >> word >> where >> word >> block.each;
  block.near = near.at(where);
  block.each = std::max(block.each, 1);
  return block;
}

std::vector<Block> blocks_of(const std::string& name) {
  std::ifstream file(path_of(name));
  std::vector<Block> blocks;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.rfind("ranks ", 0) == 0)
      blocks.push_back(block_from(line));
    else
      blocks.back().lines.push_back(line);
  }
  return blocks;
}

std::vector<std::string> lines_of(const RailTable& table) {
  std::vector<std::string> lines;
  for (size_t r = 0; r < table.rows.size(); r++) {
    RailTable one;
    one.rows = {table.rows[r]};
    lines.push_back(fmt::format("rail {}  {}  {}", r, devices_of(one), table.rows[r].reason));
  }
  return lines;
}

class MachineFile : public testing::TestWithParam<const char*> {};

TEST_P(MachineFile, HasTheTablesBesideIt) {
  const std::string name = GetParam();
  const Machine m = read_machine(path_of(name + ".xml"), "test");
  const std::vector<Block> blocks = blocks_of(name + ".rails");
  ASSERT_GE(blocks.size(), 2u);
  for (const Block& block : blocks) {
    const auto carriers = usual_locations(m, block.ranks, block.near);
    EXPECT_EQ(lines_of(rail_table_of_node(m, carriers, "", block.each)), block.lines)
        << name << ": " << block.title;
    ASSERT_EQ(static_cast<int>(block.lines.size()), block.ranks);
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, MachineFile,
                         testing::Values("dgx_h100", "slingshot4", "cpu2", "permuted4", "uma2",
                                         "cloud1"),
                         [](const auto& name) { return std::string(name.param); });

TEST(MachineFile2, EveryFileIsTested) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TEST_TIDE_MACHINES))
    files += entry.path().extension() == ".xml";
  EXPECT_EQ(files, 6u) << "add it to the list above";
}

TEST(MachineFile2, WhatADgxHas) {
  const Machine m = read_machine(path_of("dgx_h100.xml"), "test");
  EXPECT_FALSE(m.live);
  ASSERT_EQ(m.gpus.size(), 8u);
  EXPECT_EQ(pci_text(m.gpus[7].pci), "0000:83:00.0");
  ASSERT_EQ(m.nics.size(), 11u);
  std::map<std::string, Nic> nics;
  for (const Nic& nic : m.nics) nics[nic.name] = nic;
  const Nic& nic = nics["mlx5_5"];
  EXPECT_EQ(pci_text(nic.pci), "0000:44:00.0");
  EXPECT_EQ(nic.also, std::vector<std::string>{"ib3"});
  EXPECT_EQ(nic.kind, Nic::verbs);
  EXPECT_NEAR(nic.link_gbytes_per_s, 63, 0.1);
  EXPECT_EQ(nics["eno1"].kind, Nic::ethernet);
  // Package, NUMA node, root, root port, switch, its port to the NIC.
  EXPECT_EQ(depth(m, nic.place), 6);
  EXPECT_EQ(depth(m, common_place(m, nic.place, m.gpus[3].place)), 5);
  const Location by_cpu = location_on(m, {2, 3});
  EXPECT_EQ(by_cpu.package, 1);
  EXPECT_EQ(by_cpu.numa, 1);
}

TEST(MachineFile2, CpusOfOtherRanksAreThere) {
  std::ifstream file(path_of("cpu2.xml"));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const auto& [all, half] :
       {std::pair("allowed_cpuset=\"0x0000000f\"", "allowed_cpuset=\"0x3\""),
        std::pair("allowed_nodeset=\"0x00000003\"", "allowed_nodeset=\"0x1\"")}) {
    ASSERT_NE(text.find(all), std::string::npos);
    text.replace(text.find(all), std::string(all).size(), half);
  }
  const auto half =
      std::filesystem::temp_directory_path() / ("tide_half_" + std::to_string(getpid()));
  std::ofstream(half) << text;
  const Machine m = read_machine(half.string(), "test");
  std::filesystem::remove(half);
  EXPECT_EQ(location_on(m, {3}).numa, 1);
  EXPECT_EQ(location_on(m, {3}).package, 1);
}

TEST(MachineFile2, APackageMayBePartOfANumaNode) {
  const Machine m = read_machine(path_of("uma2.xml"), "test");
  const Location first = location_on(m, {1}), second = location_on(m, {2, 3});
  EXPECT_EQ(std::pair(first.package, first.numa), std::pair(0, 0));
  EXPECT_EQ(std::pair(second.package, second.numa), std::pair(1, 0));
  EXPECT_EQ(rail_table_of_node(m, {second}, "").rows[0].reason, "same NUMA node");
}

TEST(MachineFile2, SlingshotHasNumaNodesInAPackage) {
  const Machine m = read_machine(path_of("slingshot4.xml"), "test");
  ASSERT_EQ(m.nics.size(), 4u);
  for (const Nic& nic : m.nics) EXPECT_EQ(nic.kind, Nic::slingshot) << nic.name;
  const Location third = location_on(m, {4});
  EXPECT_EQ(third.package, 0);
  EXPECT_EQ(third.numa, 2);
  EXPECT_EQ(depth(m, place_of(m, third)), 2);
}

TEST(MachineFile2, OnlyWiresAreNics) {
  const Machine m = read_machine(path_of("cloud1.xml"), "test");
  ASSERT_EQ(m.nics.size(), 2u);
  for (const Nic& nic : m.nics) EXPECT_EQ(nic.up, nic.name == "eth0") << nic.name;
}

}  // namespace
}  // namespace tide::test
