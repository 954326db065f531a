// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "hosts.hpp"

#include <mpi.h>
#include <mpix_tide.h>
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <vector>

namespace tide_test {
namespace {

constexpr int name_bytes = 256;

struct Place {
  int host = -1, local_rank = 0;
};

std::vector<int> numbers(const char* counts) {
  std::vector<int> ranks;
  std::istringstream stream(counts);
  for (std::string item; std::getline(stream, item, ',');) ranks.push_back(std::stoi(item));
  return ranks;
}

std::vector<Place> places(const std::vector<int>& ranks_of_host) {
  std::vector<Place> places;
  for (size_t host = 0; host < ranks_of_host.size(); ++host)
    for (int local = 0; local < ranks_of_host[host]; ++local)
      places.push_back({static_cast<int>(host), local});
  return places;
}

std::string wrong_names(const std::vector<Place>& place, int size) {
  std::vector<char> names(static_cast<size_t>(size) * name_bytes);
  char mine[name_bytes] = "";
  gethostname(mine, name_bytes - 1);
  MPI_Allgather(mine, name_bytes, MPI_CHAR, names.data(), name_bytes, MPI_CHAR, MPI_COMM_WORLD);
  for (size_t a = 0; a < place.size(); ++a)
    for (size_t b = 0; b < a; ++b) {
      const char *one = &names[a * name_bytes], *other = &names[b * name_bytes];
      if ((std::strcmp(one, other) == 0) != (place[a].host == place[b].host))
        return "rank " + std::to_string(a) + " is on " + one + ", rank " + std::to_string(b) +
               " on " + other;
    }
  return "";
}

std::string wrong_topology(const std::vector<int>& ranks_of_host, const Place& mine) {
  MPIX_Tide_topology told;
  if (MPIX_Tide_comm_topology(MPI_COMM_WORLD, &told) != MPI_SUCCESS)
    return MPIX_Tide_error_message();
  const int local_size = ranks_of_host[static_cast<size_t>(mine.host)];
  if (told.nodes == static_cast<int>(ranks_of_host.size()) && told.node == mine.host &&
      told.local_rank == mine.local_rank && told.local_size == local_size)
    return "";
  std::ostringstream text;
  text << "Tide sees " << told.nodes << " nodes, this is local rank " << told.local_rank << " of "
       << told.local_size << " on node " << told.node;
  return text.str();
}

}  // namespace

std::string wrong_hosts(const char* counts) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::vector<int> ranks_of_host = numbers(counts);
  const std::vector<Place> place = places(ranks_of_host);
  if (static_cast<int>(place.size()) != size)
    return std::to_string(size) + " ranks are not those of the hosts " + counts;
  const std::string names = wrong_names(place, size);
  const std::string topology = wrong_topology(ranks_of_host, place[static_cast<size_t>(rank)]);
  return names.empty() ? topology : names;
}

}  // namespace tide_test
