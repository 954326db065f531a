// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// One record per process.  It hangs on MPI_COMM_SELF, whose attributes MPI_Finalize deletes first,
// with MPI still usable: that is where everything that the user left alive is let go.  The record
// itself is never destroyed.  It is found through MPI_COMM_SELF alone, so that where ranks are
// threads of one process (tests/simulator) each has its own.  Keep the reference: get() asks MPI.
#pragma once
#include <mpi.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/multicast.hpp"
#include "core/error.hpp"
#include "core/machine_read.hpp"
#include "core/memory.hpp"
#include "core/where.hpp"

namespace tide {

class Context;
class Progress;

struct MemoryKind {               // of a segment that MPIX_Tide_alloc handed out here
  std::vector<uint64_t> members;  // numbers of the processes that map it, sorted
  bool shared = false;            // tide_share = node
  std::shared_ptr<const Multicast> multicast = {};  // null: no such address
};

class UcxWorker;

class Process {
 public:
  ~Process();             // only the tests' simulator destroys one
  static Process& get();  // Error{other} before MPI_Init and after MPI_Finalize
  static bool usable();   // between MPI_Init and MPI_Finalize

  const uint64_t number;  // random: names this process to its peers
  // The mailbox, opened at first use; what kept it from opening is told to all ranks.
  std::optional<Error> open_mailbox();
  Mailbox& mailbox() { return *mailbox_; }
  Progress& progress() { return *progress_; }
  MachineOnce machine;  // this node, as hwloc sees it
  // UCX on a network device (empty: as UCX chooses), opened at first use.  Error{unsupported} where
  // it cannot be used.
  std::shared_ptr<UcxWorker> ucx(const std::string& device);
  MemoryRegistry memory;
  // Calls that use addresses of peers just now.  What peers freed stays mapped until there is none.
  std::atomic<int> calls_moving = 0;
  std::atomic<bool> peers_freed = false;
  uint64_t probe_word;  // peers read it to see whether they may

  std::shared_ptr<Context> context_of(
      MPI_Comm comm);  // null: none yet.  Cached on the communicator
  void keep(MPI_Comm comm, std::shared_ptr<Context> context);
  void remember(SegmentId id, MemoryKind kind);
  void forget(SegmentId id);
  // Do all of these processes map it?  shared: it is node-shared memory.
  bool reaches(SegmentId id, const std::vector<uint64_t>& members, bool& shared) const;
  std::shared_ptr<const Multicast> multicast_of(SegmentId id) const;
  std::vector<std::shared_ptr<Context>> contexts() const;  // that live
  // The last wait of a user of this process, for questions of peers on other communicators.
  void waits(const Context* context, const Where& where);
  Where waits_elsewhere(const Context* than) const;  // over: nobody waits
  void at_finalize();

 private:
  Process();
  mutable std::mutex mutex_;
  std::unique_ptr<Mailbox> mailbox_;
  std::unique_ptr<Progress> progress_;
  std::map<std::string, std::shared_ptr<UcxWorker>> ucx_;  // by device
  const Context* waits_on_ = nullptr;
  Where waits_where_;
  double waits_at_s_ = 0;
  std::vector<std::weak_ptr<Context>> contexts_;
  std::unordered_map<SegmentId, MemoryKind> kinds_;
};

}  // namespace tide
