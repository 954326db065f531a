// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace tide {
namespace {

const Place& at(const Machine& machine, int place) {
  return machine.places[static_cast<size_t>(place)];
}

int find_place(const Machine& machine, Place::Kind kind, int id) {
  for (size_t p = 0; p < machine.places.size(); p++)
    if (id >= 0 && machine.places[p].kind == kind && machine.places[p].id == id)
      return static_cast<int>(p);
  return -1;
}

// Hexadecimal digits up to `end`; moves `text` behind it.
bool take_hex(std::string& text, char end, size_t most_digits, uint64_t most, uint64_t& value) {
  const size_t length = end ? text.find(end) : text.size();
  if (length == std::string::npos || length == 0 || length > most_digits) return false;
  const std::string digits = text.substr(0, length);
  if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return false;
  value = std::strtoull(digits.c_str(), nullptr, 16);
  text.erase(0, std::min(length + 1, text.size()));
  return value <= most;
}

}  // namespace

std::string pci_text(PciId id) {
  if (id == no_pci) return "none";
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", id >> 16, id >> 8 & 0xff, id >> 3 & 0x1f, id & 7);
}

std::optional<PciId> parse_pci(const std::string& text) {
  std::string rest = text;
  uint64_t domain = 0, bus = 0, device = 0, function = 0;
  if (std::count(rest.begin(), rest.end(), ':') == 2 && !take_hex(rest, ':', 8, UINT32_MAX, domain))
    return std::nullopt;
  if (!take_hex(rest, ':', 2, 0xff, bus) || !take_hex(rest, '.', 2, 0x1f, device) ||
      !take_hex(rest, '\0', 1, 7, function))
    return std::nullopt;
  return domain << 16 | bus << 8 | device << 3 | function;
}

int depth(const Machine& machine, int place) {
  int depth = 0;
  for (; at(machine, place).parent >= 0; place = at(machine, place).parent) depth++;
  return depth;
}

int common_place(const Machine& machine, int a, int b) {
  while (a != b) (a > b ? a : b) = at(machine, std::max(a, b)).parent;  // parents come first
  return a;
}

const Gpu* find_gpu(const Machine& machine, PciId pci) {
  for (const Gpu& gpu : machine.gpus)
    if (pci != no_pci && gpu.pci == pci) return &gpu;
  return nullptr;
}

int place_of(const Machine& machine, const Location& location) {
  if (const Gpu* gpu = find_gpu(machine, location.gpu)) return gpu->place;
  // The inner one of the two comes later.
  return std::max({find_place(machine, Place::numa, location.numa),
                   find_place(machine, Place::package, location.package), 0});
}

int innermost_place(const Machine& machine, const std::vector<int>& cpus) {
  int found = 0;  // those that hold the CPUs hold each other, and parents come first
  for (size_t p = 0; p < machine.places.size() && !cpus.empty(); p++) {
    const std::vector<int>& its = machine.places[p].cpus;
    if (std::includes(its.begin(), its.end(), cpus.begin(), cpus.end()))
      found = static_cast<int>(p);
  }
  return found;
}

Location location_on(const Machine& machine, const std::vector<int>& cpus, PciId gpu) {
  Location location;
  location.gpu = gpu;
  for (int p = innermost_place(machine, cpus); p >= 0; p = at(machine, p).parent) {
    if (at(machine, p).kind == Place::numa) location.numa = at(machine, p).id;
    if (at(machine, p).kind == Place::package) location.package = at(machine, p).id;
  }
  return location;
}

std::vector<Location> usual_locations(const Machine& machine, int ranks, Near near) {
  std::vector<Location> locations(static_cast<size_t>(ranks));
  std::vector<const Place*> nodes;
  for (const Place& place : machine.places)
    if (place.kind == Place::numa) nodes.push_back(&place);
  for (size_t r = 0; r < locations.size(); r++) {
    if (near == Near::gpu && !machine.gpus.empty())
      locations[r].gpu = machine.gpus[r % machine.gpus.size()].pci;
    if (near == Near::numa && !nodes.empty())
      locations[r] = location_on(machine, nodes[r * nodes.size() / locations.size()]->cpus);
  }
  return locations;
}

bool is_virtual_interface(const std::string& name) {
  if (name == "lo") return true;
  for (const char* prefix :
       {"docker", "podman", "veth", "br-", "virbr", "vnet", "tun", "tap", "ifb", "dummy", "cni",
        "flannel", "cali", "vxlan", "ovs", "lxc", "sit", "wg"})
    if (name.rfind(prefix, 0) == 0) return true;
  return name.rfind("br", 0) == 0 && name.size() > 2 &&
         name.find_first_not_of("0123456789", 2) == std::string::npos;
}

}  // namespace tide
