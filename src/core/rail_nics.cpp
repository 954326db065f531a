// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Nodes have NICs for management and storage, too.  A NIC is left out only where a better one is
// there, so a node with any NIC that is up has rails.
#include <algorithm>
#include <functional>

#include "core/rail_table.hpp"

namespace tide {
namespace {

constexpr double much_faster = 5;  // a link two PCI generations newer is not

int package_of(const Machine& machine, int place) {
  while (place > 0 && machine.places[static_cast<size_t>(place)].kind != Place::package)
    place = machine.places[static_cast<size_t>(place)].parent;
  return place;
}

// 2: behind a PCIe switch with a GPU, 1: at the same root, 0: no nearer than the processor.
int beside_gpu(const Machine& machine, const Nic& nic) {
  int beside = 0;
  for (const Gpu& gpu : machine.gpus) {
    const int common = common_place(machine, nic.place, gpu.place);
    const Place::Kind kind = machine.places[static_cast<size_t>(common)].kind;
    beside = std::max(beside, kind == Place::bridge ? 2 : kind == Place::host_bridge ? 1 : 0);
  }
  return beside;
}

}  // namespace

std::vector<std::string> why_no_rail(const Machine& machine) {
  std::vector<std::string> why(machine.nics.size());
  // Leaves out every NIC that any of those still there beats.
  const auto leave_out = [&](const std::string& reason,
                             const std::function<bool(const Nic& better, const Nic&)>& beats) {
    const std::vector<std::string> before = why;
    for (size_t n = 0; n < why.size(); n++)
      for (size_t b = 0; b < why.size(); b++)
        if (before[n].empty() && before[b].empty() && beats(machine.nics[b], machine.nics[n]))
          why[n] = reason;
  };
  for (size_t n = 0; n < why.size(); n++)
    if (!machine.nics[n].up) why[n] = "down";
  leave_out("others have verbs or are Slingshot", [](const Nic& better, const Nic& nic) {
    return better.kind != Nic::ethernet && nic.kind == Nic::ethernet;
  });
  leave_out("others are much faster", [](const Nic& better, const Nic& nic) {
    return nic.link_gbytes_per_s > 0 &&
           better.link_gbytes_per_s > much_faster * nic.link_gbytes_per_s;
  });
  leave_out("others are beside a GPU", [&](const Nic& better, const Nic& nic) {
    return package_of(machine, better.place) == package_of(machine, nic.place) &&
           beside_gpu(machine, better) > beside_gpu(machine, nic);
  });
  return why;
}

}  // namespace tide
