// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <mpix_tide.h>

#include <algorithm>
#include <vector>

#include "agreement.hpp"
#include "sections.hpp"

namespace info {
namespace {

using nlohmann::json;

struct Place {
  int node, local_rank;
  char host[MPI_MAX_PROCESSOR_NAME];
};

std::vector<Place> gather_places(MPI_Comm comm, const MPIX_Tide_topology& topology) {
  Place mine{topology.node, topology.local_rank, {}};
  int length = 0, ranks = 0;
  MPI_Get_processor_name(mine.host, &length);
  MPI_Comm_size(comm, &ranks);
  std::vector<Place> places(static_cast<std::size_t>(ranks));
  constexpr int bytes = sizeof(Place);
  MPI_Gather(&mine, bytes, MPI_BYTE, places.data(), bytes, MPI_BYTE, 0, comm);
  return places;
}

// "0-3,6": consecutive ranks as ranges.
std::string ranges(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += text.empty() ? "" : ",";
    text += first == last ? fmt::format("{}", ranks[first])
                          : fmt::format("{}-{}", ranks[first], ranks[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace

json topology_section(MPI_Comm comm) {
  MPIX_Tide_topology topology{};
  tools::agree(comm, tools::tide_problem(MPIX_Tide_comm_topology(comm, &topology),
                                         "MPIX_Tide_comm_topology"));
  const std::vector<Place> places = gather_places(comm, topology);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank != 0) return nullptr;
  json nodes = json::array(), rails = json::array();
  for (int node = 0; node < topology.nodes; ++node) {
    json ranks = json::array();
    std::string host;
    for (std::size_t r = 0; r < places.size(); ++r)
      if (places[r].node == node) {
        ranks.push_back(r);
        host = places[r].host;
      }
    nodes.push_back({{"host", host}, {"ranks", ranks}});
  }
  // Rail l joins the ranks with local rank l, in node order.
  for (int node = 0; node < topology.nodes; ++node)
    for (std::size_t r = 0; r < places.size(); ++r) {
      if (places[r].node != node) continue;
      const auto rail = static_cast<std::size_t>(places[r].local_rank);
      while (rails.size() <= rail) rails.push_back(json::array());
      rails[rail].push_back(r);
    }
  return {{"ranks", places.size()},
          {"nodes", nodes},
          {"rails", rails},
          {"uniform", topology.uniform != 0}};
}

std::string topology_text(const json& t) {
  std::string text = fmt::format("Topology: {} ranks on {} node{}{}\n", t["ranks"].get<int>(),
                                 t["nodes"].size(), t["nodes"].size() == 1 ? "" : "s",
                                 t["uniform"].get<bool>() ? "" : ", with unequal numbers of ranks");
  int node = 0;
  for (const json& n : t["nodes"])
    text += fmt::format("  node {:<4} ranks {:<20} on {}\n", node++,
                        ranges(n["ranks"].get<std::vector<int>>()), n["host"].get<std::string>());
  int rail = 0;
  for (const json& ranks : t["rails"])
    text += fmt::format("  rail {:<4} ranks {}\n", rail++, ranges(ranks.get<std::vector<int>>()));
  return text;
}

}  // namespace info
