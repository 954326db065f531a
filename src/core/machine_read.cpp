// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine_read.hpp"

#include <sched.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "core/error.hpp"

namespace tide {

const Machine& MachineOnce::get() {
  const std::lock_guard lock(mutex_);
  if (!machine_) {
    const char* file = std::getenv("TIDE_HWLOC_XML");
    machine_ = read_machine(file ? file : "", "TIDE_HWLOC_XML");
  }
  return *machine_;
}

std::vector<int> cpus_here() {
  std::vector<int> cpus;
  for (int most = 1024; most <= 1 << 20; most *= 2) {  // the kernel refuses a set that is too small
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(most));
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(most));
    if (!set) return cpus;
    const int code = sched_getaffinity(0, bytes, set);
    const bool larger = code != 0 && errno == EINVAL;
    for (int cpu = 0; code == 0 && cpu < most; cpu++)
      if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set)) cpus.push_back(cpu);
    CPU_FREE(set);
    if (!larger) break;
  }
  return cpus;
}

Location location_here(const Machine& machine, const std::string& gpu) {
  PciId id = no_pci;
  if (!gpu.empty()) {
    const auto parsed = parse_pci(gpu);
    if (!parsed)
      throw Error(Kind::arg, "'{}' is not the PCI bus id of a GPU; write it like 0000:1b:00.0",
                  gpu);
    id = *parsed;
  }
  return location_on(machine, machine.live ? cpus_here() : std::vector<int>{}, id);
}

bool interface_is_down(const std::string& name, const std::string& root) {
  std::string state;
  std::ifstream(root + "/" + name + "/operstate") >> state;  // some drivers only say "unknown"
  return state == "down" || state == "lowerlayerdown" || state == "notpresent";
}

}  // namespace tide
