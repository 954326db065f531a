// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "rails.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/forced.hpp"
#include "core/machine_read.hpp"
#include "core/rail_table.hpp"

namespace info {
namespace {

using nlohmann::json;
using tide::Location;
using tide::Machine;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

json nics_of(const Machine& machine) {
  static constexpr const char* kinds[] = {"ethernet", "slingshot", "verbs"};
  const std::vector<std::string> why_not = tide::why_no_rail(machine);
  json nics = json::array();
  for (std::size_t n = 0; n < machine.nics.size(); ++n) {
    const tide::Nic& nic = machine.nics[n];
    nics.push_back({{"name", nic.name},
                    {"also", nic.also},
                    {"pci", tide::pci_text(nic.pci)},
                    {"kind", kinds[nic.kind]},
                    {"no_rail", why_not[n]}});
  }
  return nics;
}

}  // namespace

// As for a group without info keys.
json rail_entry(const Machine& machine, const std::vector<Location>& carriers, int devices) {
  const auto force = tide::forced();
  const auto found = force.find("tide_rail_devices");
  const std::string asked = found != force.end() ? found->second : variable("TIDE_RAIL_DEVICES");
  const tide::RailTable table = tide::rail_table_of_node(machine, carriers, asked, devices);
  json rails = json::array(), gpus = json::array();
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    rails.push_back(
        {{"rail", r}, {"devices", table.rows[r].devices}, {"reason", table.rows[r].reason}});
  for (const tide::Gpu& gpu : machine.gpus) gpus.push_back(tide::pci_text(gpu.pci));
  return {{"nodes", json::array()},
          {"supposed", ""},
          {"nics", nics_of(machine)},
          {"gpus", gpus},
          {"rails", rails},
          {"why_none", table.why_empty},
          {"ucx_net_devices", asked.empty() ? variable("UCX_NET_DEVICES") : ""}};
}

std::string machine_name(const Machine& machine) {
  const std::string file = variable("TIDE_HWLOC_XML");
  return machine.live || file.empty() ? "this machine" : file;
}

json supposed_rails(const RailOptions& options) {
  tide::MachineOnce once;
  const Machine given =
      options.machine.empty() ? Machine{} : tide::read_machine(options.machine, "--machine");
  const Machine& machine = options.machine.empty() ? once.get() : given;
  const std::string near = !options.near.empty()  ? options.near
                           : machine.gpus.empty() ? "numa"
                                                  : "gpu";
  if (near == "gpu" && machine.gpus.empty())
    throw std::runtime_error("--near gpu: the machine has no GPU; use numa or nothing");
  int ranks = options.ranks;
  if (ranks == 0 && near == "gpu") ranks = static_cast<int>(machine.gpus.size());
  if (ranks == 0)
    ranks =
        static_cast<int>(std::count_if(machine.places.begin(), machine.places.end(),
                                       [](const auto& p) { return p.kind == tide::Place::numa; }));
  ranks = std::max(ranks, 1);
  const auto where = near == "gpu"    ? tide::Near::gpu
                     : near == "numa" ? tide::Near::numa
                                      : tide::Near::nothing;
  json entry = rail_entry(machine, tide::usual_locations(machine, ranks, where), options.devices);
  entry["machine"] = options.machine.empty() ? machine_name(machine) : options.machine;
  entry["supposed"] = fmt::format("{} rank{} near {}", ranks, ranks == 1 ? "" : "s", near);
  return json::array({entry});
}

std::string rails_text(const json& entries) {
  std::string text = "Rails: the NICs of each local rank\n";
  for (const json& entry : entries) {
    const auto nodes = entry["nodes"].get<std::vector<int>>();
    text += fmt::format("  {}, {}\n", entry["machine"].get<std::string>(),
                        nodes.empty() ? entry["supposed"].get<std::string>()
                                      : fmt::format("node {}", fmt::join(nodes, ",")));
    for (const json& nic : entry["nics"]) {
      const std::string why_not = nic["no_rail"].get<std::string>();
      text += fmt::format("    {:<8} {:<12} {}{}\n", nic["name"].get<std::string>(),
                          nic["pci"].get<std::string>(), nic["kind"].get<std::string>(),
                          why_not.empty() ? "" : ", no rail: " + why_not);
    }
    for (const json& rail : entry["rails"])
      text += fmt::format("    rail {}  {}  {}\n", rail["rail"].get<int>(),
                          fmt::join(rail["devices"].get<std::vector<std::string>>(), "+"),
                          rail["reason"].get<std::string>());
    if (const auto named = entry["ucx_net_devices"].get<std::string>(); !named.empty())
      text += fmt::format("    over UCX: UCX_NET_DEVICES={} wins over this table\n", named);
    if (entry["rails"].empty())
      text += fmt::format("    the transport chooses: {}\n", entry["why_none"].get<std::string>());
  }
  return text;
}

}  // namespace info
