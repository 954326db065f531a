// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Start and end of the simulated MPI.
#include "world.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace simulator {

static World* current = nullptr;
// MPI_COMM_SELF of all runs so far: a process's handle is never that of another process.
static std::vector<std::unique_ptr<simulated_comm>> selves;

World& world() { return *current; }
Rank& me() { return *current->ranks[static_cast<size_t>(my_rank())]; }
void set_world(World* world) { current = world; }

void misuse(const std::string& what) { schedule()->fail("MPI is misused: " + what); }

static MPI_Comm make_first(std::vector<int> members, int rank, uint64_t number) {
  auto* comm = new simulated_comm;
  comm->channel = std::make_shared<Channel>();
  comm->channel->number = number;
  comm->channel->world_ranks = std::move(members);
  comm->rank = rank;
  return comm;
}

World::World(Schedule& s, int size) : schedule(&s) {
  std::vector<int> all;
  for (int r = 0; r < size; r++) all.push_back(r);
  auto shared = std::make_shared<Channel>();
  shared->number = ++channels;
  shared->world_ranks = all;
  for (int r = 0; r < size; r++) {
    ranks.push_back(std::make_unique<Rank>());
    Rank& rank = *ranks.back();
    rank.number = r;
    rank.world = new simulated_comm;
    rank.world->channel = shared;
    rank.world->rank = r;
    rank.self = selves.emplace_back(make_first({r}, 0, ++channels)).get();
  }
}

World::~World() {
  for (auto& rank : ranks) delete rank->world;
}

std::string left_over(Rank& rank) {
  std::string text;
  const auto add = [&](size_t count, const char* name) {
    if (count) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  };
  const std::lock_guard lock(rank.mutex);
  add(rank.unexpected.size(), "messages that nobody received");
  for (const auto& m : rank.unexpected)
    text += " (from " + std::to_string(m->source) + " tag " + std::to_string(m->tag) +
            " of communicator " + std::to_string(m->channel) + ")";
  add(rank.posted.size(), "receives that got no message");
  add(static_cast<size_t>(std::max(0, rank.requests.load())), "requests");
  add(static_cast<size_t>(std::max(0, rank.comms.load())), "communicators");
  add(static_cast<size_t>(std::max(0, rank.infos.load())), "infos");
  add(static_cast<size_t>(std::max(0, rank.errhandlers.load())), "error handlers");
  return text;
}

}  // namespace simulator

using namespace simulator;

void drop_attributes(MPI_Comm comm);

// A tool's thread or main() has no rank: MPI is not started there.
static bool alive() { return my_rank() >= 0; }

extern "C" {

MPI_Comm simulated_comm_world(void) { return alive() ? me().world : nullptr; }
MPI_Comm simulated_comm_self(void) { return alive() ? me().self : nullptr; }

int MPI_Init_thread(int*, char***, int required, int* provided) {
  me().started = true;
  me().thread_level = required;
  if (provided) *provided = required;
  schedule()->maybe_turn();
  return MPI_SUCCESS;
}
int MPI_Init(int* argc, char*** argv) {
  return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, nullptr);
}
int MPI_Initialized(int* flag) {
  *flag = alive() && me().started;
  return MPI_SUCCESS;
}
int MPI_Finalized(int* flag) {
  *flag = alive() && me().finished;
  return MPI_SUCCESS;
}
int MPI_Query_thread(int* provided) {
  *provided = me().thread_level;
  return MPI_SUCCESS;
}
int MPI_Is_thread_main(int* flag) {
  *flag = 1;
  return MPI_SUCCESS;
}

// As both MPIs do: MPI_COMM_SELF's attributes go first, with everything else still there.
int MPI_Finalize(void) {
  drop_attributes(me().self);
  MPI_Barrier(me().world);
  drop_attributes(me().world);
  me().finished = true;
  return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm, int code) {
  schedule()->fail("MPI_Abort with code " + std::to_string(code));
}
double MPI_Wtime(void) { return static_cast<double>(schedule()->now_us()) * 1e-6; }
int MPI_Get_library_version(char* text, int* length) {
  *length = static_cast<int>(std::strlen(std::strcpy(text, "Tide's simulated MPI")));
  return MPI_SUCCESS;
}
int MPI_Get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}
int MPI_Get_processor_name(char* name, int* length) {
  *length = static_cast<int>(std::strlen(std::strcpy(name, "simulated")));
  return MPI_SUCCESS;
}
}
