// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What one node has: NICs, GPUs, and the tree in which they and the ranks have their places.  Plain
// data; core/machine_read fills it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tide {

using PciId = uint64_t;  // domain, bus, device, function: the order of lspci
constexpr PciId no_pci = UINT64_MAX;
std::string pci_text(PciId id);  // "0000:1b:00.0", "none"
// "0000:1b:00.0" as hwloc, HIP and CUDA spell it, or "1b:00.0"; nothing where it is none.
std::optional<PciId> parse_pci(const std::string& text);

// A node of the tree: the machine, a package, a NUMA node, a PCI host bridge or a bridge below it.
struct Place {
  enum Kind { machine, package, numa, host_bridge, bridge } kind = machine;
  int parent = -1;        // index in Machine::places, always a smaller one; -1: the machine
  int id = -1;            // of packages and NUMA nodes: what the operating system calls it
  std::vector<int> cpus;  // of packages and NUMA nodes, ascending
};

struct Nic {
  // Best last: what carries messages without the kernel is preferred.
  enum Kind { ethernet, slingshot, verbs } kind = ethernet;
  std::string name;               // as UCX names it, without port: mlx5_0, hsn0, eth0
  std::vector<std::string> also;  // its other names: ib0 of mlx5_0
  PciId pci = no_pci;
  int place = 0;
  bool up = true;
  double link_gbytes_per_s = 0;  // of its PCI link; 0: unknown
};

struct Gpu {
  int index = 0;  // in the order of PCI ids
  PciId pci = no_pci;
  int place = 0;
};

struct Machine {
  std::vector<Place> places = {Place{}};  // the first is the machine itself
  std::vector<Nic> nics;
  std::vector<Gpu> gpus;      // by index
  bool live = false;          // this machine, not a file's
  std::string nothing_known;  // why there are no devices, where none were looked for
};

// Where a rank is.  A rank sends its own to the ranks of its node as these 16 bytes.
struct Location {
  int32_t package = -1, numa = -1;  // -1: several, or unknown
  PciId gpu = no_pci;               // the rank's GPU
};
static_assert(sizeof(Location) == 16);

int depth(const Machine& machine, int place);            // of the machine itself: 0
int common_place(const Machine& machine, int a, int b);  // the deepest that holds both
// Of the rank's GPU if the machine has it, else the inner one of its NUMA node and its package.
int place_of(const Machine& machine, const Location& location);
const Gpu* find_gpu(const Machine& machine, PciId pci);  // null: none
int innermost_place(const Machine& machine, const std::vector<int>& cpus);
// Of a rank that runs on these CPUs (ascending) and uses this GPU.
Location location_on(const Machine& machine, const std::vector<int>& cpus, PciId gpu = no_pci);

// Where ranks usually are, for a look at a machine without a job: rank r uses GPU r, cyclically, or
// the ranks are spread over the NUMA nodes in blocks, or nothing is known.
enum class Near { gpu, numa, nothing };
std::vector<Location> usual_locations(const Machine& machine, int ranks, Near near);

// lo, docker0, veth...: no wire belongs to an interface of this name.
bool is_virtual_interface(const std::string& name);

}  // namespace tide
