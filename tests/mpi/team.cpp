// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "team.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace tide_test {

namespace {

std::vector<int> nodes_by_environment(const char* text) {
  std::vector<int> nodes;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) nodes.push_back(std::stoi(item));
  return nodes;
}

int world_node() {
  int rank = 0, leader = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* text = std::getenv("TIDE_FAKE_NODES");
  if (text && *text) return nodes_by_environment(text).at(static_cast<size_t>(rank));
  MPI_Comm shared;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
  leader = rank;
  MPI_Bcast(&leader, 1, MPI_INT, 0, shared);
  MPI_Comm_free(&shared);
  return leader;
}

bool allowed_failure(const Failure& seen, std::initializer_list<Failure> allowed) {
  return std::any_of(allowed.begin(), allowed.end(), [&](const Failure& f) {
    return f.kind == seen.kind && (f.kind != 0 || f.mpi_class == seen.mpi_class);
  });
}

std::string name_of(const Failure& f) {
  static const char* kinds[] = {"plain", "MISMATCH", "TIMEOUT", "UNSUPPORTED", "PEER", "DEVICE"};
  if (f.kind > 0 && f.kind < 6) return kinds[f.kind];
  if (f.mpi_class == MPI_ERR_ARG) return "MPI_ERR_ARG";
  if (f.mpi_class == MPI_ERR_COMM) return "MPI_ERR_COMM";
  if (f.mpi_class == MPI_ERR_COUNT) return "MPI_ERR_COUNT";
  if (f.mpi_class == MPI_ERR_BUFFER) return "MPI_ERR_BUFFER";
  if (f.mpi_class == MPI_ERR_REQUEST) return "MPI_ERR_REQUEST";
  return "MPI class " + std::to_string(f.mpi_class);
}

}  // namespace

int Team::my_node() const {
  for (size_t n = 0; n < members.size(); ++n) {
    if (std::count(members[n].begin(), members[n].end(), rank)) return static_cast<int>(n);
  }
  return -1;
}

int Team::my_local() const {
  const auto& mine = members[static_cast<size_t>(my_node())];
  return static_cast<int>(std::find(mine.begin(), mine.end(), rank) - mine.begin());
}

bool Team::uniform() const {
  return std::all_of(members.begin(), members.end(),
                     [&](const auto& m) { return m.size() == members[0].size(); });
}

Team team_of(MPI_Comm comm) {
  static const int mine = world_node();
  Team team;
  team.comm = comm;
  MPI_Comm_rank(comm, &team.rank);
  MPI_Comm_size(comm, &team.size);
  team.node.resize(static_cast<size_t>(team.size));
  MPI_Allgather(&mine, 1, MPI_INT, team.node.data(), 1, MPI_INT, comm);
  std::vector<int> seen;
  for (int r = 0; r < team.size; ++r) {
    const int node = team.node[static_cast<size_t>(r)];
    const auto at = static_cast<size_t>(std::find(seen.begin(), seen.end(), node) - seen.begin());
    if (at == seen.size()) {
      seen.push_back(node);
      team.members.emplace_back();
    }
    team.members[at].push_back(r);
  }
  return team;
}

const Team& world() {
  static const Team team = team_of(MPI_COMM_WORLD);
  return team;
}

bool on_all(const Team& team, bool mine) {
  int in = mine, out = 0;
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MIN, team.comm);
  return out != 0;
}

void sync(const Team& team) { MPI_Barrier(team.comm); }

MPI_Comm dup(MPI_Comm comm) {
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  return copy;
}

MPI_Comm split(MPI_Comm comm, int color, int key) {
  MPI_Comm part;
  MPI_Comm_split(comm, color < 0 ? MPI_UNDEFINED : color, key, &part);
  return part;
}

Info::Info(std::initializer_list<std::pair<std::string, std::string>> pairs) {
  MPI_Info_create(&info_);
  for (const auto& [key, value] : pairs) MPI_Info_set(info_, key.c_str(), value.c_str());
}

Failure failure_of(int code) {
  Failure seen{-1, -1};
  EXPECT_EQ(MPI_SUCCESS, MPIX_Tide_error_kind(code, &seen.kind));
  EXPECT_EQ(MPI_SUCCESS, MPI_Error_class(code, &seen.mpi_class));
  return seen;
}

void expect_failure(int code, std::initializer_list<Failure> allowed,
                    std::initializer_list<std::string> words) {
  ASSERT_NE(MPI_SUCCESS, code) << "the call succeeded; expected " << name_of(*allowed.begin());
  const std::string message = MPIX_Tide_error_message();  // before any other call can change it
  const Failure seen = failure_of(code);
  EXPECT_TRUE(allowed_failure(seen, allowed))
      << "seen " << name_of(seen) << ", expected " << name_of(*allowed.begin())
      << "; message: " << message;
  EXPECT_FALSE(message.empty());
  EXPECT_EQ(std::string::npos, message.find('\n')) << message;
  for (const std::string& word : words) {
    EXPECT_NE(std::string::npos, message.find(word)) << "no \"" << word << "\" in: " << message;
  }
  int error_class = 0, length = 0;
  ASSERT_EQ(MPI_SUCCESS, MPI_Error_class(code, &error_class));
#ifdef MPICH_VERSION
  // MPICH 4.0 gives no text to a code of a predefined class: the code is the class itself and the
  // detail stays with Tide.
  if (code == error_class && seen.kind == 0) return;
#endif
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  ASSERT_EQ(MPI_SUCCESS, MPI_Error_string(code, text, &length));
  // MPI bounds its strings; the beginning of the detail must be there.
  EXPECT_NE(std::string::npos, std::string(text).find(message.substr(0, 60)))
      << text << "\nmessage: " << message;
}

void expect_failure_on_all(const Team& team, int code, std::initializer_list<Failure> allowed,
                           std::initializer_list<std::string> words) {
  expect_failure(code, allowed, words);
  int mine[2] = {0, 0}, low[2], high[2];
  if (code != MPI_SUCCESS) {
    const Failure seen = failure_of(code);
    mine[0] = seen.kind + 1;
    mine[1] = seen.kind ? 0 : seen.mpi_class;
  }
  MPI_Allreduce(mine, low, 2, MPI_INT, MPI_MIN, team.comm);
  MPI_Allreduce(mine, high, 2, MPI_INT, MPI_MAX, team.comm);
  EXPECT_TRUE(low[0] == high[0] && low[1] == high[1])
      << "ranks saw different errors: kind+1 " << low[0] << ".." << high[0] << ", class " << low[1]
      << ".." << high[1];
}

}  // namespace tide_test
