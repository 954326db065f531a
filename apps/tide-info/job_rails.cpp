// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The rails of the job's own ranks.
#include <mpix_tide.h>

#include <algorithm>

#include "agreement.hpp"
#include "core/machine_read.hpp"
#include "rails.hpp"

namespace info {
namespace {

using nlohmann::json;
using tide::Location;

// Every node's entry, by node, on rank 0; `mine` is null but on one rank of each node.
std::vector<json> gather_entries(MPI_Comm comm, const json& mine) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const std::string text =
      mine.is_null() ? "" : mine.dump(-1, ' ', false, json::error_handler_t::replace);
  const int bytes = static_cast<int>(text.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks)), starts(counts.size());
  MPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  for (std::size_t r = 1; r < counts.size(); ++r) starts[r] = starts[r - 1] + counts[r - 1];
  std::string all(static_cast<std::size_t>(starts.back() + counts.back()), '\0');
  MPI_Gatherv(text.data(), bytes, MPI_CHAR, all.data(), counts.data(), starts.data(), MPI_CHAR, 0,
              comm);
  std::vector<json> entries;
  for (std::size_t r = 0; rank == 0 && r < counts.size(); ++r)
    if (counts[r] > 0)
      entries.push_back(json::parse(
          all.substr(static_cast<std::size_t>(starts[r]), static_cast<std::size_t>(counts[r]))));
  return entries;
}

// Carriers are the ranks whose local rank is below the size of the smallest node.
std::vector<Location> gather_carriers(MPI_Comm comm, const MPIX_Tide_topology& topology,
                                      const Location& mine) {
  int local = 0, rails = 0;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split(comm, topology.node, topology.local_rank, &node);
  MPI_Comm_size(node, &local);
  MPI_Allreduce(&local, &rails, 1, MPI_INT, MPI_MIN, comm);
  std::vector<Location> locations(static_cast<std::size_t>(local));
  constexpr int bytes = sizeof(Location);
  MPI_Allgather(&mine, bytes, MPI_BYTE, locations.data(), bytes, MPI_BYTE, node);
  MPI_Comm_free(&node);
  locations.resize(static_cast<std::size_t>(rails));
  return locations;
}

}  // namespace

json rails_section(MPI_Comm comm, const RailOptions& options) {
  MPIX_Tide_topology topology{};
  tools::agree(comm, tools::tide_problem(MPIX_Tide_comm_topology(comm, &topology),
                                         "MPIX_Tide_comm_topology"));
  tide::MachineOnce once;
  Location mine;
  std::string problem;
  try {
    mine = tide::location_here(once.get());
    if (topology.local_rank == 0)
      rail_entry(once.get(), {}, options.devices);  // what may be refused
  } catch (const std::exception& e) {
    problem = e.what();
  }
  tools::agree(comm, problem);
  const std::vector<Location> carriers = gather_carriers(comm, topology, mine);
  json entry = nullptr;
  if (topology.local_rank == 0) {
    entry = rail_entry(once.get(), carriers, options.devices);
    entry["machine"] = machine_name(once.get());
    entry["nodes"] = {topology.node};
  }
  std::vector<json> alike;
  for (json& next : gather_entries(comm, entry)) {
    const json node = next["nodes"][0];
    next["nodes"] = json::array();
    const auto same = std::find_if(alike.begin(), alike.end(), [&](json seen) {
      seen["nodes"] = json::array();
      return seen == next;
    });
    json& its = same == alike.end() ? alike.emplace_back(std::move(next)) : *same;
    its["nodes"].push_back(node);
  }
  return alike;
}

}  // namespace info
