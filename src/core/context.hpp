// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What Tide keeps for one communicator: a private duplicate, where its ranks live, the control
// lines of the node, the rail, the backend and the workspace.  Made by the first call on the
// communicator (collective), cached on it, shared by its groups.
#pragma once
#include <mpi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/host/host.hpp"
#include "backend/host/node.hpp"
#include "backend/rail.hpp"
#include "core/memory.hpp"
#include "core/process.hpp"
#include "plan/topology.hpp"

namespace tide {

// A tag that nobody sends.  A probe that finds a message returns at once, without progress for
// others.
constexpr int unused_tag = 32000;

struct Peer {            // facts about a rank of the communicator, gathered once; node-major
  uint64_t process = 0;  // Process::number
  int32_t pid = 0;
  MailAddress mail{};
};

class Context {
 public:
  // Collective over comm.  Error{comm} at once for MPI_COMM_NULL and intercommunicators.
  static std::shared_ptr<Context> of(MPI_Comm comm);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  MPI_Comm user() const { return user_; }  // MPI_COMM_NULL once the user freed it
  MPI_Comm comm() const { return dup_; }
  const Topology& topology() const { return topology_; }
  int rank() const { return rank_; }  // node-major
  int comm_rank() const { return topology_.comm_rank(rank_); }
  int node() const { return topology_.node(rank_); }
  const Peer& peer(int rank) const { return peers_[static_cast<size_t>(rank)]; }
  std::vector<uint64_t> node_processes() const;
  const Node& node_lines() const { return node_lines_; }
  Rail* rail() const { return rail_.get(); }
  bool remote_memory() const {
    return remote_memory_;
  }  // process_vm_readv reaches all local ranks, on every node
  Backend& backend() { return *backend_; }

  // Collective.  Throws on every rank what the lowest rank with an error brings, else returns.
  void agree(const std::optional<Error>& mine);
  // Runs `act`; an Error of any rank becomes an Error of all.  Collective.
  void together(const std::function<void()>& act);
  // Collective.  A segment of each member of my node (bytes may differ; 0: none), mapped here.
  std::vector<std::shared_ptr<Segment>> share(std::shared_ptr<Segment> mine,
                                              const std::vector<bool>& has);
  // Collective.  Workspace of at least this many bytes per slot; regrown only where a rank of the
  // node needs more.
  void reserve(size_t bytes);
  char* workspace(int local, int slot) const;
  size_t workspace_bytes(int local) const {
    return workspace_[static_cast<size_t>(local)]
               ? workspace_[static_cast<size_t>(local)]->bytes() / slot_count
               : 0;
  }

  uint64_t next_call() { return ++calls_; }
  uint64_t next_group() { return ++groups_; }
  std::vector<uint64_t>
      freed_seen;        // per local rank: how often it had freed memory when we last looked
  void raise(int code);  // the communicator's error handler
  MPI_Errhandler errhandler() const { return errhandler_; }  // as it was at creation
  void user_freed() { user_ = MPI_COMM_NULL; }
  void let_go();       // local: frees the duplicate and the memory; at finalize
  std::string broken;  // why no call can be made any more; empty: none
  bool carrier() const {
    return topology_.local(rank_) < topology_.rails();
  }                  // has a rail, where there are several nodes
  std::mutex mutex;  // one call at a time drives a communicator

 private:
  Context() = default;
  void gather_facts();
  void part_nodes(const std::vector<int>& node_of, const std::vector<int>& attached);
  void attach_nodes();

  MPI_Comm user_ = MPI_COMM_NULL, dup_ = MPI_COMM_NULL;
  MPI_Errhandler errhandler_ = MPI_ERRHANDLER_NULL;
  Topology topology_ = Topology::of_sizes({1});
  int rank_ = 0;
  std::vector<Peer> peers_;
  uint64_t ticket_ = 0, calls_ = 0, groups_ = 0;
  bool remote_memory_ = false;
  std::vector<std::shared_ptr<Segment>> control_, workspace_;
  Node node_lines_;
  std::unique_ptr<Rail> rail_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace tide
