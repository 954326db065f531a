// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine_hwloc.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/error.hpp"
#include "core/machine_read.hpp"

namespace tide {
namespace {

struct Topology {
  hwloc_topology_t t = nullptr;
  Topology() {
    if (hwloc_topology_init(&t)) throw Error(Kind::no_mem, "hwloc_topology_init failed");
  }
  ~Topology() { hwloc_topology_destroy(t); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
};

// Only what the table needs, and all of the machine: what other ranks may use, too, so that all
// ranks of a node see the same.
void choose_what_to_read(hwloc_topology_t t) {
  unsigned long flags =
      HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#if HWLOC_API_VERSION >= 0x00020800
  flags |= HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
           HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
#endif
  hwloc_topology_set_flags(t, flags);
  hwloc_topology_set_cache_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_icache_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(t, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // These would start GPU runtimes or talk to a display; PCI says enough.
  for (const char* component : {"cuda", "nvml", "rsmi", "levelzero", "opencl", "gl"})
    hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
}

void use_file(hwloc_topology_t t, const std::string& xml, const std::string& named_by) {
  std::error_code none;
  const bool directory = std::filesystem::is_directory(xml, none);
  if (directory || access(xml.c_str(), R_OK) != 0)
    throw Error(Kind::arg, "{}: cannot read '{}': {}; give a file that 'lstopo FILE.xml' wrote",
                named_by, xml, directory ? "it is a directory" : std::strerror(errno));
  if (hwloc_topology_set_xml(t, xml.c_str()) != 0 || hwloc_topology_load(t) != 0)
    throw Error(
        Kind::arg,
        "{}: '{}' is not a machine in hwloc's XML (version 2), or is damaged; write it anew "
        "with 'lstopo FILE.xml'",
        named_by, xml);
}

std::vector<int> cpus_of(hwloc_const_bitmap_t set) {
  std::vector<int> cpus;
  for (int cpu = set ? hwloc_bitmap_first(set) : -1; cpu >= 0; cpu = hwloc_bitmap_next(set, cpu))
    cpus.push_back(cpu);
  return cpus;
}

// Packages and NUMA nodes, the larger first: either may hold several of the other.  Memory without
// CPUs, or at the CPUs of other nodes, is no place.
void add_cpu_places(Machine& machine, hwloc_topology_t t) {
  std::vector<Place> found;
  for (const auto& [type, kind] :
       {std::pair{HWLOC_OBJ_PACKAGE, Place::package}, std::pair{HWLOC_OBJ_NUMANODE, Place::numa}})
    for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(t, type, o));) {
      Place place{kind, 0, static_cast<int>(o->os_index), cpus_of(o->cpuset)};
      const bool known = std::any_of(found.begin(), found.end(), [&](const Place& p) {
        return p.kind == place.kind &&
               std::includes(place.cpus.begin(), place.cpus.end(), p.cpus.begin(), p.cpus.end());
      });
      if (!place.cpus.empty() && !known) found.push_back(std::move(place));
    }
  std::stable_sort(found.begin(), found.end(),
                   [](const Place& a, const Place& b) { return a.cpus.size() > b.cpus.size(); });
  for (Place& place : found) {
    place.parent = innermost_place(machine, place.cpus);
    machine.places.push_back(std::move(place));
  }
}

}  // namespace

bool has_hwloc() { return true; }

int place_of_parent(Machine& machine, BridgePlaces& bridges, hwloc_obj_t object) {
  hwloc_obj_t up = object->parent;
  while (up->type != HWLOC_OBJ_BRIDGE && !up->cpuset) up = up->parent;  // devices in devices
  if (up->type != HWLOC_OBJ_BRIDGE) return innermost_place(machine, cpus_of(up->cpuset));
  if (const auto known = bridges.find(up); known != bridges.end()) return known->second;
  const int parent = place_of_parent(machine, bridges, up);
  const bool host = up->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
  machine.places.push_back({host ? Place::host_bridge : Place::bridge, parent, -1, {}});
  return bridges[up] = static_cast<int>(machine.places.size()) - 1;
}

Machine read_machine(const std::string& xml, const std::string& named_by) {
  Topology topology;
  Machine machine;
  choose_what_to_read(topology.t);
  if (!xml.empty()) {
    use_file(topology.t, xml, named_by);
  } else if (hwloc_topology_load(topology.t) != 0) {
    machine.nothing_known = "hwloc cannot read this machine";
    return machine;
  }
  machine.live = xml.empty() && hwloc_topology_is_thissystem(topology.t) != 0;
  add_cpu_places(machine, topology.t);
  add_devices(machine, topology.t);
  return machine;
}

}  // namespace tide
