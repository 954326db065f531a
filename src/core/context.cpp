// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/context.hpp"

#include "backend/rail/mpi.hpp"
#include "core/error.hpp"
#include "core/group.hpp"
#include "core/log.hpp"
#include "core/progress.hpp"
#include "core/rail_table.hpp"

namespace tide {

std::shared_ptr<Context> Context::of(MPI_Comm comm, double limit_s) {
  if (comm == MPI_COMM_NULL)
    throw Error(Kind::comm, "comm: MPI_COMM_NULL has no ranks; pass an intracommunicator");
  Process& process = Process::get();
  int inter = 0;
  if (MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
    throw Error(Kind::comm,
                "comm: an intercommunicator has two groups; pass an intracommunicator "
                "(MPI_Intercomm_merge makes one)");
  if (auto known = process.context_of(comm)) {
    const std::lock_guard lock(known->mutex);
    known->check_whole();
    return known;
  }
  std::shared_ptr<Context> context(new Context(process));
  context->in_setup_ = true;
  context->setup_limit_s_ = limit_s;
  try {
    context->set_up(comm, limit_s);
  } catch (...) {
    context->in_setup_ = false;
    if (context->broken()) process.keep(comm, context);  // never to be tried again
    throw;
  }
  process.keep(comm, context);
  context->in_setup_ = false;
  return context;
}

static_assert(most_nodes == 1 << Rail::first_end_round);

void Context::set_up(MPI_Comm comm, double limit_s) {
  duplicate(comm, limit_s);
  MPI_Comm_get_errhandler(comm, &errhandler_);
  MPI_Comm_set_errhandler(dup_, MPI_ERRORS_RETURN);
  user_ = comm;
  agree(process_.open_mailbox());
  gather_facts();
  check_node_count(topology_.nodes());
  attach_nodes();
}

Context::~Context() { let_go(); }

// With calls under way, at finalize, the communicator is given up: peers that wait must hear of it.
void Context::let_go() {
  const bool under_way = !queued_.empty() || running_[0] || running_[1];
  if (under_way) give_up({comm_rank(), static_cast<int16_t>(Kind::peer), Fault::finalized, -1}, "");
  driven_ = nullptr;
  std::exchange(graph_calls_, {}).clear();
  nccl_rail_.reset();
  mpi_rail_.reset();
  ucx_rail_.reset();
  watch_.reset();
  plain_group_.reset();
  control_.clear();
  workspace_.reset();
  device_workspace_.reset();
  node_lines_ = Node();
  if (!Process::usable() || Progress::without_mpi()) return;
  if (errhandler_ != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&errhandler_);
  if (dup_ != MPI_COMM_NULL && !broken_flag_) MPI_Comm_free(&dup_);
  dup_ = MPI_COMM_NULL;
}

std::vector<uint64_t> Context::node_processes() const {
  std::vector<uint64_t> result;
  for (int l = 0; l < topology_.size(node()); l++)
    result.push_back(peer(topology_.rank(node(), l)).process);
  return result;
}

void Context::raise(int code) {
  if (!Process::usable()) return;
  if (user_ != MPI_COMM_NULL) {
    MPI_Comm_call_errhandler(user_, code);
  } else if (dup_ != MPI_COMM_NULL) {
    MPI_Comm_set_errhandler(dup_, errhandler_);
    MPI_Comm_call_errhandler(dup_, code);
    MPI_Comm_set_errhandler(dup_, MPI_ERRORS_RETURN);
  }
}

}  // namespace tide
