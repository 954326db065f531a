// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks of a communicator live.  Same node: MPI says that they share memory (and
// TIDE_FAKE_NODES does not part them), and every one of them has attached the others' control
// block; otherwise each of those ranks is a node of its own.
#include <unistd.h>

#include <cstdlib>
#include <map>

#include "backend/rail/mpi.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/remote_memory.hpp"
#include "core/settings.hpp"

namespace tide {
namespace {

struct Facts {  // exchanged once, as bytes, between processes of one build
  uint64_t process, probe_word, probe_address, nonce;
  int32_t leader, fake, pid, bad;
  MailAddress mail;
};

// Node number of this process by TIDE_FAKE_NODES, or -1.
int fake_node() {
  const std::string spec = environment_value("TIDE_FAKE_NODES");
  if (spec.empty()) return -1;
  int world_rank = 0, world_size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  const std::vector<int> nodes = parse_fake_nodes(spec);
  if (static_cast<int>(nodes.size()) < world_size)
    throw Error(
        Kind::arg,
        "TIDE_FAKE_NODES names {} ranks, MPI_COMM_WORLD has {}; write one node number per rank",
        nodes.size(), world_size);
  if (world_rank == 0 && static_cast<int>(nodes.size()) > world_size)
    warn_once(fmt::format(
        "TIDE_FAKE_NODES names {} ranks, MPI_COMM_WORLD has {}: the rest is not used; is "
        "this the number of ranks that was meant?",
        nodes.size(), world_size));
  return nodes[static_cast<size_t>(world_rank)];
}

int shared_leader(
    MPI_Comm comm) {  // lowest rank of comm with which MPI says that memory can be shared
  MPI_Comm shared = MPI_COMM_NULL;
  int me = 0, leader = 0;
  MPI_Comm_rank(comm, &me);
  if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &shared) != MPI_SUCCESS)
    throw Error(Kind::intern,
                "MPI_Comm_split_type failed: MPI has no communicator left; free communicators that "
                "are not in use");
  check_mpi(MPI_Allreduce(&me, &leader, 1, MPI_INT, MPI_MIN, shared), "MPI_Allreduce");
  MPI_Comm_free(&shared);
  return leader;
}

}  // namespace

void Context::gather_facts() {
  Process& process = process_;
  const int size = comm_size();
  if (size > 1) barrier();  // what follows cannot be timed: all ranks are here
  Facts mine{process.number,
             process.probe_word,
             reinterpret_cast<uint64_t>(&process.probe_word),
             random_number(),
             size > 1 ? shared_leader(dup_) : 0,
             -1,
             static_cast<int32_t>(getpid()),
             0,
             process.mailbox().address()};
  std::optional<Error> fault;
  try {
    mine.fake = fake_node();
  } catch (const Error& e) {
    fault = e;
  }
  agree(fault);
  const std::vector<Facts> all = gather_all(mine);
  const auto is_set = [&](size_t r) { return all[r].fake < 0 ? "not set" : "set"; };
  for (size_t r = 1; r < all.size(); r++)
    if ((all[r].fake < 0) != (all[0].fake < 0))
      throw Error(
          Kind::mismatch,
          "rank {}: TIDE_FAKE_NODES is {} there but {} on rank 0; set it in the environment of "
          "all ranks (mpirun -x TIDE_FAKE_NODES, mpiexec -genvlist TIDE_FAKE_NODES)",
          r, is_set(r), is_set(0));
  ticket_ = all[0].nonce;

  std::map<std::pair<int, int>, int> names;
  std::vector<int> node_of;
  for (const Facts& f : all)
    node_of.push_back(
        names.try_emplace({f.leader, f.fake}, static_cast<int>(names.size())).first->second);
  int me = 0;
  MPI_Comm_rank(dup_, &me);
  topology_ = Topology(node_of);
  rank_ = topology_.position(me);
  for (int r = 0; r < size; r++) {
    const Facts& f = all[static_cast<size_t>(topology_.comm_rank(r))];
    peers_.push_back({f.process, f.pid, f.mail});
  }

  // Attach each other's control blocks; where that fails, or a probe of cross-memory reads, all
  // ranks learn of it.
  struct Outcome {
    int32_t attached, remote, gpu;
  } outcome{1, 1, gpu::in_use()};
  const int locals = topology_.size(node());
  std::string why;
  std::shared_ptr<Segment> mine_control;  // no peer waits for one that could not be made
  together([&] { mine_control = Segment::create(ControlBlock::bytes(locals)); });
  try {
    control_ = share(mine_control, std::vector<bool>(static_cast<size_t>(locals), true));
    for (const auto& segment : control_)
      if (segment->bytes() < ControlBlock::bytes(locals))
        throw Error(Kind::peer, "a peer's control block has {} bytes instead of {}",
                    segment->bytes(), ControlBlock::bytes(locals));
  } catch (const Error& e) {
    if (broken()) throw;
    outcome.attached = 0;
    why = e.what();
  }
  for (int l = 0; l < locals; l++) {
    const Facts& f = all[static_cast<size_t>(topology_.comm_rank(topology_.rank(node(), l)))];
    if (f.process != process.number && !remote_memory_works(f.pid, f.probe_address, f.probe_word))
      outcome.remote = 0;
  }
  const std::vector<Outcome> outcomes = gather_all(outcome);
  if (!why.empty())
    log(Level::warn,
        fmt::format("rank {}: the ranks of its node become nodes of their own: {}", me, why));
  part_nodes(node_of, [&] {
    std::vector<int> a;
    for (const auto& o : outcomes) a.push_back(o.attached);
    return a;
  }());
  std::map<int, int> node_of_host;
  for (int r = 0; r < size; r++) {
    const int node = topology_.node(topology_.position(r));
    nodes_share_host_ |=
        node_of_host.try_emplace(all[static_cast<size_t>(r)].leader, node).first->second != node;
  }
  for (const Outcome& o : outcomes) any_gpu_in_use_ |= o.gpu != 0;
  remote_memory_ = true;
  for (int r = 0; r < size; r++)
    remote_memory_ &= outcomes[static_cast<size_t>(r)].remote != 0 ||
                      topology_.size(topology_.node(topology_.position(r))) == 1;
}

// A node whose members could not all attach falls apart.
void Context::part_nodes(const std::vector<int>& node_of, const std::vector<int>& attached) {
  std::map<int, bool> whole;
  for (size_t r = 0; r < node_of.size(); r++)
    whole.try_emplace(node_of[r], true).first->second &= attached[r] != 0;
  std::vector<int> result;
  bool changed = false;
  int next = static_cast<int>(node_of.size());
  for (int node : node_of) {
    result.push_back(whole[node] ? node : next++);
    changed |= !whole[node];
  }
  if (!changed) return;
  std::vector<Peer> by_comm_rank(peers_.size());
  for (size_t r = 0; r < peers_.size(); r++)
    by_comm_rank[static_cast<size_t>(topology_.comm_rank(static_cast<int>(r)))] = peers_[r];
  const int me = comm_rank();
  const bool mine_whole = whole[node_of[static_cast<size_t>(me)]];
  topology_ = Topology(result);
  rank_ = topology_.position(me);
  for (size_t r = 0; r < peers_.size(); r++)
    peers_[r] = by_comm_rank[static_cast<size_t>(topology_.comm_rank(static_cast<int>(r)))];
  together([&] {  // all ranks know that some node fell apart
    if (!mine_whole) control_ = {Segment::create(ControlBlock::bytes(1))};
  });
}

void Context::attach_nodes() {
  std::vector<void*> blocks;
  for (const auto& segment : control_) blocks.push_back(segment->base());
  node_lines_ = Node(topology_.local(rank_), std::move(blocks));
  auto none = std::make_shared<WorkspaceSet>();
  none->of.resize(control_.size());
  workspace_ = std::move(none);
  freed_seen.resize(control_.size());
  backend_ = std::make_unique<HostBackend>(node_lines_);
}

}  // namespace tide
