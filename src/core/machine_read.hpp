// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Reads a Machine by hwloc: the one that this process runs on, or one from an XML file that
// `lstopo FILE.xml` wrote.  Nothing stays open, no GPU runtime is started.
#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/machine.hpp"

namespace tide {

// xml: a file's path; empty: this machine.  named_by: who gave the path (a variable or an option),
// for messages.  Error{arg}: a file that cannot be read; Error{unsupported}: a file, and a build
// without hwloc.  Where this machine cannot be read it is one without devices, and says why.
Machine read_machine(const std::string& xml, const std::string& named_by);
bool has_hwloc();  // this build has it

// Read at first use, once: this machine, or the file that TIDE_HWLOC_XML names.  Any thread; an
// error is thrown again by the next call, which tries again.
class MachineOnce {
 public:
  const Machine& get();

 private:
  std::mutex mutex_;
  std::optional<Machine> machine_;
};

std::vector<int> cpus_here();  // those that the calling thread may run on, ascending
// Of the calling thread.  gpu: the PCI bus id of this rank's GPU as CUDA or HIP spells it, or
// empty; Error{arg} if it is none.  On a file's machine the CPUs say nothing.
Location location_here(const Machine& machine, const std::string& gpu = "");

// From its file operstate under `root`; false where that is not there.
bool interface_is_down(const std::string& name, const std::string& root = "/sys/class/net");

}  // namespace tide
