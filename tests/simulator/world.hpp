// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What the simulated MPI is made of.  Locks are fine-grained on purpose: a lock that every call
// took would order the ranks for a thread sanitizer, which would then see no race.
#pragma once
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "schedule.hpp"

namespace simulator {

struct Collective;

struct Channel {  // what the ranks of a communicator share
  uint64_t number = 0;
  std::vector<int> world_ranks;
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<Collective>> collectives;  // by their place in the order
};

struct Message {
  uint64_t channel = 0;
  int source = 0, tag = 0;  // source: rank of the communicator
  uint64_t ready_us = 0;    // not to be seen before
  const void* from = nullptr;
  size_t bytes = 0;
  std::vector<unsigned char> copy;  // of a message that MPI has buffered
  bool buffered = false;
  std::atomic<bool> taken = false;
};

struct Posted {  // a receive
  uint64_t channel = 0;
  int source = 0, tag = 0;
  void* to = nullptr;
  size_t room = 0;
  std::shared_ptr<Message> match;
  bool done = false, cancelled = false;
  MPI_Status status{};
};

struct Rank {  // of the world
  int number = 0;
  bool started = false, finished = false;
  int thread_level = MPI_THREAD_MULTIPLE;
  MPI_Comm world = nullptr, self = nullptr;
  std::mutex mutex;                                          // of all below
  std::list<std::shared_ptr<Message>> unexpected;            // in the order of sending
  std::list<std::shared_ptr<Posted>> posted;                 // in the order of posting
  std::map<std::array<int64_t, 3>, uint64_t> last_ready_us;  // of (channel, source, tag)
  std::atomic<int> requests = 0, comms = 0, infos = 0, errhandlers = 0;  // that live
};

struct World {
  Schedule* schedule = nullptr;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::atomic<uint64_t> channels = 0;
  World(Schedule& schedule, int size);
  ~World();
};

World& world();  // of the calling thread's run
Rank& me();
void set_world(World* world);  // for all threads

// The calling program does what MPI forbids, or what Tide promised not to do.
[[noreturn]] void misuse(const std::string& what);
size_t type_bytes(MPI_Datatype type);
void transfer(Rank& rank);  // lock held: what has come for posted receives is moved there
// Everything that the rank should have given back by now; empty: nothing is left.
std::string left_over(Rank& rank);

}  // namespace simulator

struct simulated_comm {
  std::shared_ptr<simulator::Channel> channel;
  int rank = 0;
  uint64_t collectives = 0;  // that this rank has begun
  std::map<int, void*> attributes;
  MPI_Errhandler errhandler = MPI_ERRORS_ARE_FATAL;
  simulator::Rank& peer(int r) const {
    return *simulator::world()
                .ranks[static_cast<size_t>(channel->world_ranks[static_cast<size_t>(r)])];
  }
  int size() const { return static_cast<int>(channel->world_ranks.size()); }
};

struct simulated_request {
  std::function<bool(MPI_Status&)> test;  // true, and the outcome, once it is complete
  std::function<void()> cancel;
  std::function<std::string()> what;    // for reports
  std::atomic<bool> completed = false;  // a generalized one
  int owner = 0;
};

struct simulated_message {
  std::shared_ptr<simulator::Message> message;
};

struct simulated_errhandler {
  MPI_Comm_errhandler_function* function = nullptr;
};

struct simulated_info {
  std::vector<std::pair<std::string, std::string>> pairs;
};
