// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// NICs and GPUs, as hwloc lists them.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/machine_hwloc.hpp"
#include "core/machine_read.hpp"

namespace tide {
namespace {

PciId id_of(hwloc_obj_t device) {
  const auto& pci = device->attr->pcidev;
  return static_cast<PciId>(pci.domain) << 16 | static_cast<PciId>(pci.bus) << 8 |
         static_cast<PciId>(pci.dev) << 3 | pci.func;
}

// By PCI class and vendor: hwloc's GPU components are not asked (they start GPU runtimes), and the
// display of a server's management controller is no GPU.
bool is_gpu(hwloc_obj_t device) {
  const auto& pci = device->attr->pcidev;
  const unsigned base = pci.class_id >> 8;
  const bool display = base == 0x03, accelerator = base == 0x12;
  switch (pci.vendor_id) {
    case 0x10de:  // NVIDIA
    case 0x1002:  // AMD
      return display || accelerator;
    case 0x8086:  // Intel: not the processor's own graphics
      return accelerator || pci.class_id == 0x0380;
    default:
      return false;
  }
}

// InfiniBand's port states: 4 is active.  Without a state it passes for up.
bool any_port_active(hwloc_obj_t device) {
  bool known = false, active = false;
  for (unsigned i = 0; i < device->infos_count; i++) {
    const std::string name = device->infos[i].name;
    if (name.rfind("Port", 0) != 0 || name.find("State") == std::string::npos) continue;
    known = true;
    active |= std::strcmp(device->infos[i].value, "4") == 0;
  }
  return active || !known;
}

bool starts_with(hwloc_obj_t device, const char* prefix) {
  return std::strncmp(device->name, prefix, std::strlen(prefix)) == 0;
}

using Devices = std::vector<hwloc_obj_t>;

// One NIC of each verbs device, whose network interfaces are further names of it; else one of each
// interface.  UCX knows a Slingshot NIC by its interface.
void add_nics(Machine& machine, Nic common, const Devices& verbs, const Devices& interfaces) {
  const Devices& main = verbs.empty() || starts_with(verbs[0], "cxi") ? interfaces : verbs;
  const Devices& other = &main == &verbs ? interfaces : verbs;
  for (hwloc_obj_t device : main.empty() ? other : main) {
    Nic nic = common;
    nic.name = device->name;
    const char* subtype = device->subtype ? device->subtype : "";
    const bool slingshot = starts_with(device, "hsn") || starts_with(device, "cxi") ||
                           std::strcmp(subtype, "Slingshot") == 0;
    const bool is_verbs = device->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS;
    nic.kind = is_verbs && !starts_with(device, "cxi") ? Nic::verbs
               : slingshot                             ? Nic::slingshot
                                                       : Nic::ethernet;
    nic.up = is_verbs ? any_port_active(device) : !machine.live || !interface_is_down(nic.name);
    if (!main.empty())
      for (hwloc_obj_t o : other) nic.also.push_back(o->name);
    machine.nics.push_back(std::move(nic));
  }
}

hwloc_obj_t pci_device_of(hwloc_obj_t device) {
  hwloc_obj_t up = device->parent;
  while (up && up->type != HWLOC_OBJ_PCI_DEVICE) up = up->parent;
  return up;
}

bool has_hardware(const Machine& machine, const std::string& interface) {
  if (is_virtual_interface(interface)) return false;
  return !machine.live || access(("/sys/class/net/" + interface + "/device").c_str(), F_OK) == 0;
}

}  // namespace

void add_devices(Machine& machine, hwloc_topology_t topology) {
  BridgePlaces bridges;
  std::map<hwloc_obj_t, std::pair<Devices, Devices>> on_pci;  // verbs, interfaces
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_osdev(topology, o));) {
    const bool verbs = o->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS;
    if (!o->name || (!verbs && o->attr->osdev.type != HWLOC_OBJ_OSDEV_NETWORK)) continue;
    if (hwloc_obj_t device = pci_device_of(o)) {
      (verbs ? on_pci[device].first : on_pci[device].second).push_back(o);
    } else if (!verbs && has_hardware(machine, o->name)) {  // of a bus that hwloc does not know
      Nic common;
      common.place = place_of_parent(machine, bridges, o);
      add_nics(machine, common, {}, {o});
    }
  }
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_pcidev(topology, o));) {
    if (const auto found = on_pci.find(o); found != on_pci.end()) {
      Nic common;
      common.pci = id_of(o);
      common.place = place_of_parent(machine, bridges, o);
      common.link_gbytes_per_s = static_cast<double>(o->attr->pcidev.linkspeed);
      add_nics(machine, common, found->second.first, found->second.second);
    }
    if (is_gpu(o)) machine.gpus.push_back({0, id_of(o), place_of_parent(machine, bridges, o)});
  }
  std::sort(machine.gpus.begin(), machine.gpus.end(),
            [](const Gpu& a, const Gpu& b) { return a.pci < b.pci; });
  for (size_t g = 0; g < machine.gpus.size(); g++) machine.gpus[g].index = static_cast<int>(g);
}

}  // namespace tide
