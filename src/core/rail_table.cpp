// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rail_table.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/error.hpp"

namespace tide {
namespace {

bool has_nic(const Machine& machine, const std::string& device) {
  const std::string name = device.substr(0, device.find(':'));  // without the port
  return std::any_of(machine.nics.begin(), machine.nics.end(), [&](const Nic& nic) {
    return nic.name == name || std::find(nic.also.begin(), nic.also.end(), name) != nic.also.end();
  });
}

RailTable table_of_text(const Machine& machine, size_t rails, const std::string& text) {
  const auto given = parse_rail_devices(text);
  RailTable table;
  for (size_t r = 0; r < rails; r++) {
    RailRow row{given[r % given.size()], "TIDE_RAIL_DEVICES"};
    for (const std::string& device : row.devices)
      if (!machine.nics.empty() && !has_nic(machine, device))
        row.reason += fmt::format("; hwloc sees no {} here", device);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<const Nic*> rail_nics(const Machine& machine) {
  const std::vector<std::string> why_not = why_no_rail(machine);
  std::vector<const Nic*> nics;
  for (size_t n = 0; n < why_not.size(); n++)
    if (why_not[n].empty()) nics.push_back(&machine.nics[n]);
  std::sort(nics.begin(), nics.end(), [](const Nic* a, const Nic* b) {
    return std::tie(a->pci, a->name) < std::tie(b->pci, b->name);
  });
  return nics;
}

// Of a carrier to each NIC: the depth of the deepest place that both have in common.
struct Nearness {
  std::vector<int> depths;
  int nearest() const { return *std::max_element(depths.begin(), depths.end()); }
  auto choice() const { return std::count(depths.begin(), depths.end(), nearest()); }
};

Nearness nearness_of(const Machine& machine, const Location& carrier,
                     const std::vector<const Nic*>& nics) {
  Nearness nearness;
  for (const Nic* nic : nics)
    nearness.depths.push_back(
        depth(machine, common_place(machine, place_of(machine, carrier), nic->place)));
  return nearness;
}

std::string reason_for(const Machine& machine, const Location& carrier, const Nic& nic,
                       bool only_one) {
  const int common = common_place(machine, place_of(machine, carrier), nic.place);
  std::string what;
  switch (machine.places[static_cast<size_t>(common)].kind) {
    case Place::bridge:
      what = "same PCIe switch";
      break;
    case Place::host_bridge:
      what = "same PCIe root";
      break;
    case Place::numa:
      what = "same NUMA node";
      break;
    case Place::package:
      what = "same package";
      break;
    case Place::machine:
      what = "same machine";
      break;
  }
  if (const Gpu* gpu = find_gpu(machine, carrier.gpu))
    return fmt::format("nearest to GPU {} ({})", gpu->index, what);
  if (common != 0) return what;
  return only_one ? "the only NIC" : "round robin";
}

RailTable no_table(const Machine& machine) {
  if (!machine.nothing_known.empty()) return {{}, machine.nothing_known};
  return {{}, machine.nics.empty() ? "hwloc sees no NIC here" : "every NIC is down"};
}

}  // namespace

void check_node_count(int nodes) {
  if (nodes > most_nodes)
    throw Error(Kind::unsupported,
                "the communicator has {} nodes, Tide joins at most {}; use communicators of fewer "
                "nodes (MPIX_Tide_comm_grid makes some)",
                nodes, most_nodes);
}

RailTable rail_table_of_node(const Machine& machine, const std::vector<Location>& carriers,
                             const std::string& devices, int devices_per_rail) {
  if (devices_per_rail < 1)
    throw Error(Kind::arg, "{} devices per rail; ask for 1 or more", devices_per_rail);
  if (!devices.empty()) return table_of_text(machine, carriers.size(), devices);
  const std::vector<const Nic*> nics = rail_nics(machine);
  if (nics.empty()) return no_table(machine);

  std::vector<Nearness> near;
  for (const Location& carrier : carriers) near.push_back(nearness_of(machine, carrier, nics));
  std::vector<size_t> order(carriers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return near[a].choice() < near[b].choice(); });

  RailTable table;
  table.rows.resize(carriers.size());
  std::vector<int> load(nics.size(), 0);
  std::vector<std::vector<bool>> taken(carriers.size(), std::vector<bool>(nics.size(), false));
  const auto passes = std::min(static_cast<size_t>(devices_per_rail), nics.size());
  for (size_t pass = 0; pass < passes; pass++)  // everybody's first before anybody's second
    for (size_t r : order) {
      const auto key = [&](size_t n) {
        return std::tuple(taken[r][n] ? 1 : 0, -near[r].depths[n], load[n], n);
      };
      size_t best = 0;
      for (size_t n = 1; n < nics.size(); n++)
        if (key(n) < key(best)) best = n;
      taken[r][best] = true;
      load[best]++;
      RailRow& row = table.rows[r];
      row.devices.push_back(nics[best]->name);
      if (pass == 0) row.reason = reason_for(machine, carriers[r], *nics[best], nics.size() == 1);
    }
  return table;
}

}  // namespace tide
