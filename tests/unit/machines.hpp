// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Machines made of a few lines, for the tests of tables.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "core/rail_table.hpp"

namespace tide::test {

inline int add_place(Machine& m, Place::Kind kind, int parent, int id = -1,
                     std::vector<int> cpus = {}) {
  m.places.push_back({kind, parent, id, std::move(cpus)});
  return static_cast<int>(m.places.size()) - 1;
}

inline Nic& add_nic(Machine& m, const std::string& name, PciId pci, int place) {
  Nic nic;
  nic.kind = Nic::verbs;
  nic.name = name;
  nic.pci = pci;
  nic.place = place;
  m.nics.push_back(nic);
  return m.nics.back();
}

inline void add_gpu(Machine& m, PciId pci, int place) {
  m.gpus.push_back({static_cast<int>(m.gpus.size()), pci, place});
}

inline Location at_numa(int id) {
  Location location;
  location.numa = id;
  return location;
}

inline Location at_gpu(PciId pci) {
  Location location;
  location.gpu = pci;
  return location;
}

// Packages of one NUMA node each, two CPUs in each.  Returns the NUMA nodes' places.
inline std::vector<int> add_packages(Machine& m, int count) {
  std::vector<int> nodes;
  for (int p = 0; p < count; p++) {
    const std::vector<int> cpus{2 * p, 2 * p + 1};
    const int package = add_place(m, Place::package, 0, p, cpus);
    nodes.push_back(add_place(m, Place::numa, package, p, cpus));
  }
  return nodes;
}

// "mlx5_0 mlx5_1+mlx5_2": the devices by rail.
inline std::string devices_of(const RailTable& table) {
  std::string text;
  for (const RailRow& row : table.rows) {
    if (!text.empty()) text += " ";
    for (size_t d = 0; d < row.devices.size(); d++) text += (d ? "+" : "") + row.devices[d];
  }
  return text;
}

template <class Act>
void expect_message(Kind kind, const std::vector<std::string>& words, Act act) {
  try {
    act();
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind);
    for (const std::string& word : words)
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos)
          << "'" << word << "' is not in: " << e.what();
  }
}

}  // namespace tide::test
