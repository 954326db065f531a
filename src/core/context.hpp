// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What Tide keeps for one communicator: a private duplicate, where its ranks live, the control
// lines of the node, the rail, the backend, the workspace, and the calls under way.  Made by the
// first call on the communicator (collective), cached on it, shared by its groups.
//   discover.cpp  where the ranks live      exchange.cpp  what ranks tell each other in set-up
//   rails.cpp, rail_nccl.cpp  what joins the nodes
//   running.cpp   calls under way, and the end of a communicator that was given up
#pragma once
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/host/host.hpp"
#include "backend/host/node.hpp"
#include "backend/rail.hpp"
#include "core/memory.hpp"
#include "core/multicast.hpp"
#include "core/position.hpp"
#include "core/process.hpp"
#include "core/watch.hpp"
#include "plan/topology.hpp"

namespace tide {

// A tag that nobody sends.  A probe that finds a message returns at once, without progress for
// others.
constexpr int unused_tag = 32000;
constexpr int data_tag = 31998;  // of send and receive in set-up

struct Peer {            // facts about a rank of the communicator, gathered once; node-major
  uint64_t process = 0;  // Process::number
  int32_t pid = 0;
  MailAddress mail{};
};

class Group;
class NcclRail;
class Settings;
struct Enqueued;
struct GraphCall;
class Call;

// The workspace of the node's ranks, as it was when a call was started.
struct WorkspaceSet {
  std::vector<std::shared_ptr<Segment>> of;                 // by local rank; null: none
  std::shared_ptr<const void> exposed;                      // mine, to the peers of a rail
  mutable std::vector<std::shared_ptr<const void>> pinned;  // for a device, once one is used
  // Of each slot, of tide_multicast; emulated ones are made once a call uses them.
  mutable std::array<std::shared_ptr<const Multicast>, slot_count> multicast;
  size_t bytes(int local) const {  // of one slot
    const auto& segment = of[static_cast<size_t>(local)];
    return segment ? segment->bytes() / slot_count : 0;
  }
  char* at(int local, int slot) const {
    const auto& segment = of[static_cast<size_t>(local)];
    return segment ? static_cast<char*>(segment->base()) + static_cast<size_t>(slot) * bytes(local)
                   : nullptr;
  }
  // Whose start is that of the slot; null: none.
  std::shared_ptr<const Multicast> multicast_of(int slot, MulticastMode mode) const;
  std::shared_ptr<const Multicast> part(const Multicast& whole, int slot) const;
};

struct Workspaces {                                  // of a call
  std::shared_ptr<const WorkspaceSet> host, device;  // device: null without a rail of its own
};

class Context : public std::enable_shared_from_this<Context> {
 public:
  // Collective over comm.  Error{comm} at once for MPI_COMM_NULL and intercommunicators.  limit_s:
  // Error{timeout} where a rank does not come; 0: waits for ever.
  static std::shared_ptr<Context> of(MPI_Comm comm, double limit_s);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Process& process() const { return process_; }
  MPI_Comm user() const { return user_; }  // MPI_COMM_NULL once the user freed it
  const Topology& topology() const { return topology_; }
  int rank() const { return rank_; }  // node-major
  int comm_rank() const { return topology_.comm_rank(rank_); }
  int node() const { return topology_.node(rank_); }
  const Peer& peer(int rank) const { return peers_[static_cast<size_t>(rank)]; }
  std::vector<uint64_t> node_processes() const;
  const Node& node_lines() const { return node_lines_; }
  bool carrier() const {  // has a rail, where there are several nodes
    return topology_.local(rank_) < topology_.rails();
  }
  // process_vm_readv reaches all local ranks, on every node
  bool remote_memory() const { return remote_memory_; }
  Backend& backend() { return *backend_; }
  // Of device memory, made at first use, with this workspace pinned for it.  Error{unsupported}
  // where there is no device, Error{device} where it fails.
  Backend& device_backend(const WorkspaceSet& workspace);
  // The device of this rank's memory on this communicator, chosen at first use: the one that a
  // group wanted (tide_device), or the thread's current one.  Error{unsupported}: none; Error{arg}:
  // not this one.
  int device();
  bool knows_device() const { return device_ >= 0; }
  void default_device(int device) {  // of the user's thread, where another one may ask first
    if (default_device_ < 0) default_device_ = device;
  }
  void want_device(const std::string& asked);  // empty: no wish.  Error{arg}: it is another already
  int likely_device() const;                   // what device() would choose now
  bool adopt_device(int device);  // of the first device memory that comes; false: it is another one
  // By a rank, as the context was made, or since then for memory that all ranks asked for.
  bool any_gpu_in_use() const { return any_gpu_in_use_; }
  void note_gpu_in_use() { any_gpu_in_use_ = true; }
  // Of memory that is allocated from now on: some group of the communicator's uses multicast.
  void want_multicast(MulticastMode mode) { multicast_ = std::max(multicast_, mode); }
  MulticastMode multicast() const { return multicast_; }

  // --- set-up: collective, all active requests are driven meanwhile (exchange.cpp) ---
  // For the time of a collective set-up: one thread at a time, and its limit in seconds.
  // Collective: Error{mismatch} on all ranks where a rank is in another one.
  class Setup {
   public:
    Setup(Context& context, double limit_s, SetupCall call);
    ~Setup();
    Setup(const Setup&) = delete;
    Setup& operator=(const Setup&) = delete;

   private:
    void leave();
    Context& context_;
  };
  // Throws on every rank what the lowest rank with an error brings, else returns.
  void agree(const std::optional<Error>& mine);
  // Runs `act`; what it throws, for agree().  Throws on where the others know.
  std::optional<Error> attempt(const std::function<void()>& act);
  // Runs `act`; an Error of any rank becomes an Error of all.
  void together(const std::function<void()>& act);
  template <class T>
  std::vector<T> gather_all(const T& mine) {  // in communicator order
    std::vector<T> all(static_cast<size_t>(comm_size()));
    gather_bytes(&mine, all.data(), sizeof(T));
    return all;
  }
  void least(int64_t* values, int count);  // elementwise, in place
  void broadcast(void* data, size_t bytes, int root);
  void barrier();
  // What the lowest rank with a reason (not empty) says, with its number; empty: none has one.
  std::string first_reason(const std::string& mine);
  // A segment of each member of my node (bytes may differ; 0: none), mapped here; device: for the
  // use of that device.
  std::vector<std::shared_ptr<Segment>> share(std::shared_ptr<Segment> mine,
                                              const std::vector<bool>& has, int device = -1);
  // Workspace of at least this many bytes per slot; regrown only where a rank of the node needs
  // more.
  void reserve(size_t bytes);
  // The rail that joins the nodes (tide_rail), and why not a better one; null on one node.  It
  // lives as long as the context.  Error{unsupported} on all ranks where some rank has not what was
  // asked for.
  Rail* rail(const Settings& settings, std::string& why_not_better);
  // Of calls on device memory (rail_nccl.cpp), with a device workspace of at least so many bytes
  // per slot; null: the rail of host memory carries them, too.  records: that one.
  // Error{unsupported} where NCCL was asked for.
  Rail* device_rail(const Settings& settings, size_t bytes, Rail* records, std::string& why_not);
  std::shared_ptr<const WorkspaceSet> workspaces() const { return workspace_; }
  std::shared_ptr<const WorkspaceSet> device_workspaces() const { return device_workspace_; }
  const std::string& why_no_nccl() const { return why_no_nccl_; }  // any more
  // Why what lands in device memory has no multicast address; the same on all ranks.
  const std::string& why_no_switch() const { return why_no_switch_; }
  uint64_t next_group() { return ++groups_; }
  // A group of no parameters, of the communicator itself: calls on it tell and hear.
  std::shared_ptr<Group> plain_group();
  // Bytes to, or from, a rank of the communicator; the other side is in the same set-up.
  void send(const void* data, size_t bytes, int to);
  void receive(void* data, size_t bytes, int from);
  void reduce(void* values, size_t bytes_each, int count, MPI_Datatype type, MPI_Op op);
  MPI_Comm duplicate() const { return dup_; }  // for files
  int comm_size() const;

  // --- calls (running.cpp) ---
  void count_call();  // made by the program, in its order
  // mutex held.  Its call was started, or starts when it is enqueued->outcome's gate is open.
  void enqueue(std::shared_ptr<Group> group, std::shared_ptr<Enqueued> enqueued = {});
  void keep(std::shared_ptr<GraphCall> call) { graph_calls_.push_back(std::move(call)); }  // same
  void set_active();        // requests that nobody may wait for; mutex held
  bool progress();          // of its calls; true if anything moved
  void tick(bool waiting);  // looks at the clock, hears and answers peers
  bool has_stream_calls() const { return stream_calls_ > 0; }
  void end_stream_call() { stream_calls_--; }
  // The same where MPI may not be called: on one node, whose lines tell what a rank waits for.
  void tick_without_mpi();
  bool drives_rail() const { return driven_ != nullptr; }
  void enter_mpi() const;    // lets MPI get on
  void check_whole() const;  // throws why the communicator was given up
  bool broken() const { return broken_flag_; }
  std::vector<uint32_t> freed_seen;  // per local rank: how often it had freed memory
  std::mutex mutex;                  // of the calls under way and what they use

  void raise(int code);                                      // the communicator's error handler
  MPI_Errhandler errhandler() const { return errhandler_; }  // as it was at creation
  void user_freed() { user_ = MPI_COMM_NULL; }
  void let_go();  // local: frees the duplicate and the memory; at finalize

 private:
  explicit Context(Process& process) : process_(process) {}
  void set_up(MPI_Comm comm, double limit_s);
  void duplicate(MPI_Comm comm, double limit_s);
  void gather_facts();
  void part_nodes(const std::vector<int>& node_of, const std::vector<int>& attached);
  void attach_nodes();
  void make_ucx_rail(const std::string& asked, bool insist);
  std::vector<std::string> rail_devices(const std::string& asked, std::string& why);
  void check_same_devices(const std::string& devices) const;
  void expose(WorkspaceSet& workspace);
  std::string make_nccl_rail(Rail& records);
  std::string grow_device_workspace(size_t bytes, bool& lost);
  void lose_nccl(const std::string& why);
  std::string apart(std::function<void()> act);
  void abandon_device_rail();
  std::vector<Rail::Bytes> gather_blobs(const Rail::Bytes& mine);
  void gather_bytes(const void* mine, void* all, size_t bytes);
  void agree_on_setup(SetupCall call);
  void finish(MPI_Request& request, std::vector<std::byte>& keep, const char* what);
  bool progress_locked();
  Position position() const { return {static_cast<uint32_t>(calls_), setups_, in_}; }
  void publish_position() const;  // to the ranks of the node
  bool see_positions();           // gives up where one of them went another way
  void hear_after_absence();
  bool begin_queued();
  bool start(Call& call, std::shared_ptr<Enqueued>& enqueued);
  bool take_graph_calls();
  Watch::Here here(bool waiting) const;
  void give_up(const Status& cause, const std::string& detail);
  void leave_behind();
  void fail_calls(Kind kind, const std::string& why);

  Process& process_;
  MPI_Comm user_ = MPI_COMM_NULL, dup_ = MPI_COMM_NULL;
  MPI_Errhandler errhandler_ = MPI_ERRHANDLER_NULL;
  Topology topology_ = Topology::of_sizes({1});
  int rank_ = 0;
  std::vector<Peer> peers_;
  uint64_t ticket_ = 0, calls_ = 0, groups_ = 0;
  bool remote_memory_ = false;
  std::vector<std::shared_ptr<Segment>> control_;
  std::shared_ptr<const WorkspaceSet> workspace_, device_workspace_;  // device: of the nccl rail
  Node node_lines_;
  bool nodes_share_host_ = false, only_tcp_ = false;
  std::unique_ptr<Rail> mpi_rail_, ucx_rail_;
  std::shared_ptr<NcclRail> nccl_rail_;     // a thread that NCCL keeps may hold it, too
  std::optional<std::string> ucx_devices_;  // what its rails were made of; none: not tried
  std::string why_no_ucx_, why_no_nccl_, why_no_switch_;
  std::atomic<Rail*> driven_ = nullptr;  // one that needs this process to get on with what peers do
  std::unique_ptr<Backend> backend_, device_backend_;
  std::shared_ptr<Group> plain_group_;
  int device_ = -1, default_device_ = -1;
  std::string wanted_device_;
  bool any_gpu_in_use_ = false;
  MulticastMode multicast_ = MulticastMode::off;
  bool asked_for_multicast_ = false;  // when the device workspace was made

  struct Queued {
    std::shared_ptr<Group> group;
    std::shared_ptr<Enqueued> enqueued;  // null: its call was started
  };
  std::deque<Queued> queued_;  // in order
  std::vector<std::shared_ptr<GraphCall>> graph_calls_;
  std::array<std::shared_ptr<Group>, slot_count> running_ = {};  // by slot
  bool active_ = false;                                          // known to Progress
  uint64_t entered_ = 0, moved_ = 0;
  std::atomic<int> stream_calls_ = 0;  // enqueued and not over
  std::atomic<bool> in_setup_ = false;
  uint32_t setups_ = 0;
  SetupCall in_ = SetupCall::none;
  double setup_limit_s_ = 0;
  uint64_t setup_steps_ = 0;
  std::unique_ptr<Watch> watch_;
  double last_progress_s_ = 0, quiet_since_s_ = 0;
  uint64_t quiet_moved_ = 0;
  std::atomic<bool> broken_flag_ = false;
  Kind broken_kind_ = Kind::none;
  std::string broken_;  // why no call can be made any more
};

}  // namespace tide
