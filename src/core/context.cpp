// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/context.hpp"

#include "backend/rail/mpi.hpp"
#include "core/error.hpp"
#include "core/log.hpp"

namespace tide {

constexpr double attach_timeout_s = 30;

std::shared_ptr<Context> Context::of(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL)
    throw Error(Kind::comm, "comm: MPI_COMM_NULL has no ranks; pass an intracommunicator");
  Process* process = nullptr;
  std::optional<Error> fault;  // of this rank alone: the others must hear of it
  try {
    process = &Process::get();
  } catch (const Error& e) {
    if (!Process::usable()) throw;
    fault = e;
  }
  int inter = 0;
  if (MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
    throw Error(Kind::comm,
                "comm: an intercommunicator has two groups; pass an intracommunicator "
                "(MPI_Intercomm_merge makes one)");
  if (process)
    if (auto known = process->context_of(comm)) return known;
  std::shared_ptr<Context> context(new Context);
  if (MPI_Comm_dup(comm, &context->dup_) != MPI_SUCCESS)
    throw Error(Kind::intern,
                "MPI_Comm_dup failed: MPI has no communicator (context id) left; free "
                "communicators that are not in use");
  MPI_Comm_get_errhandler(comm, &context->errhandler_);
  MPI_Comm_set_errhandler(context->dup_, MPI_ERRORS_RETURN);
  context->user_ = comm;
  context->agree(fault);
  context->gather_facts();
  context->attach_nodes();
  process->keep(comm, context);
  return context;
}

Context::~Context() { let_go(); }

void Context::let_go() {
  rail_.reset();
  control_.clear();
  workspace_.clear();
  if (!Process::usable()) return;
  if (errhandler_ != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&errhandler_);
  if (dup_ != MPI_COMM_NULL) MPI_Comm_free(&dup_);
}

std::vector<uint64_t> Context::node_processes() const {
  std::vector<uint64_t> result;
  for (int l = 0; l < topology_.size(node()); l++)
    result.push_back(peer(topology_.rank(node(), l)).process);
  return result;
}

void Context::agree(const std::optional<Error>& mine) {
  int me = 0, lowest = 0;
  MPI_Comm_rank(dup_, &me);
  const int report = mine ? me : INT32_MAX;
  check_mpi(MPI_Allreduce(&report, &lowest, 1, MPI_INT, MPI_MIN, dup_), "MPI_Allreduce");
  if (lowest == INT32_MAX) return;
  int head[2] = {0, 0};
  std::string text;
  if (lowest == me) {
    text = mine->what();
    if (text.rfind("rank ", 0) != 0) text = fmt::format("rank {}: {}", me, text);
    head[0] = static_cast<int>(mine->kind());
    head[1] = static_cast<int>(text.size());
  }
  check_mpi(MPI_Bcast(head, 2, MPI_INT, lowest, dup_), "MPI_Bcast");
  text.resize(static_cast<size_t>(head[1]));
  check_mpi(MPI_Bcast(text.data(), head[1], MPI_CHAR, lowest, dup_), "MPI_Bcast");
  throw Error(static_cast<Kind>(head[0]), text);
}

void Context::together(const std::function<void()>& act) {
  std::optional<Error> mine;
  try {
    act();
  } catch (const Error& e) {
    mine = e;
  } catch (const std::bad_alloc&) {
    mine = Error(Kind::no_mem, "out of memory; use fewer or smaller parameters per group");
  } catch (const std::exception& e) {
    mine = Error(Kind::intern, e.what());
  }
  agree(mine);
}

std::vector<std::shared_ptr<Segment>> Context::share(std::shared_ptr<Segment> mine,
                                                     const std::vector<bool>& has) {
  std::vector<MailAddress> members;
  for (int l = 0; l < topology_.size(node()); l++)
    members.push_back(peer(topology_.rank(node(), l)).mail);
  const uint64_t ticket = ++ticket_;
  if (members.size() == 1) {
    if (mine) mine->close_descriptor();
    return {mine};
  }
  const auto progress = [this] {  // a peer may still be inside MPI's exchange before this one
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, unused_tag, dup_, &flag, MPI_STATUS_IGNORE);
  };
  return Process::get().mailbox.exchange(ticket, topology_.local(rank_), members, has,
                                         std::move(mine), attach_timeout_s, progress);
}

void Context::reserve(size_t bytes) {
  uint64_t want = bytes;
  std::vector<uint64_t> wants(static_cast<size_t>(topology_.ranks()));
  check_mpi(MPI_Allgather(&want, 1, MPI_UINT64_T, wants.data(), 1, MPI_UINT64_T, dup_),
            "MPI_Allgather");  // in communicator order
  bool grow = false;
  std::vector<bool> has;
  for (int l = 0; l < topology_.size(node()); l++) {
    const size_t needed =
        wants[static_cast<size_t>(topology_.comm_rank(topology_.rank(node(), l)))];
    grow |= needed > workspace_bytes(l);
    has.push_back(needed > 0 || workspace_bytes(l) > 0);
  }
  bool any = false;  // whether any node grows is known to all: no rank skips a collective step
  for (int r = 0; r < topology_.ranks(); r++) any |= wants[static_cast<size_t>(r)] > 0;
  if (!any) return;
  std::shared_ptr<Segment> mine;
  together([&] {
    const size_t size = std::max(bytes, workspace_bytes(topology_.local(rank_)));
    if (grow && size) mine = Segment::create(size * slot_count);
  });
  std::vector<std::shared_ptr<Segment>> fresh;
  together([&] {
    if (grow)
      fresh = share(mine, has);
    else
      ++ticket_;  // tickets stay equal on all ranks
  });
  if (grow) workspace_ = std::move(fresh);
}

char* Context::workspace(int local, int slot) const {
  const auto& segment = workspace_[static_cast<size_t>(local)];
  return segment ? static_cast<char*>(segment->base()) +
                       static_cast<size_t>(slot) * (segment->bytes() / slot_count)
                 : nullptr;
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
