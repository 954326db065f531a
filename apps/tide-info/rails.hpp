// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/rail_table.hpp"

// The NIC of each rail, by the library's own functions.
namespace info {

/// What is asked without a job: a machine, this one or a file's, and where ranks would be on it.
struct RailOptions {
  std::string machine;  // an XML file; empty: this machine
  int ranks = 0;        // 0: one for each GPU, or for each NUMA node
  std::string near;     // gpu, numa or nothing; empty: gpu where there are some, else numa
  int devices = 1;      // for each rail

  /// Ranks are supposed, and no job is looked at.
  bool supposed() const { return !machine.empty() || ranks > 0 || !near.empty(); }
};

/// [{"nodes", "machine", "supposed", "nics": [{"name", "also", "pci", "kind", "no_rail": why, or
/// ""}], "gpus", "rails": [{"rail", "devices", "reason"}], "why_none"}], an entry for all nodes
/// that are alike; complete on rank 0 only.  Collective; throws tools::AgreedError on all ranks.
nlohmann::json rails_section(MPI_Comm comm, const RailOptions& options);

/// The same for supposed ranks, with one entry and no nodes; local, without MPI.  Throws
/// std::runtime_error with the reason and the remedy.
nlohmann::json supposed_rails(const RailOptions& options);

/// An entry of these carriers, without nodes.
nlohmann::json rail_entry(const tide::Machine& machine, const std::vector<tide::Location>& carriers,
                          int devices);

/// "this machine", or the file of TIDE_HWLOC_XML that stands for it.
std::string machine_name(const tide::Machine& machine);

std::string rails_text(const nlohmann::json& rails);

}  // namespace info
