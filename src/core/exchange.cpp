// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other while something is set up: MPI's nonblocking collectives on our own
// duplicate, polled, so that active requests are driven meanwhile and a silent rank is found.
#include <algorithm>
#include <cstring>

#include "core/clock.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/left_behind.hpp"
#include "core/log.hpp"
#include "core/progress.hpp"
#include "core/status.hpp"

namespace tide {

constexpr double attach_timeout_s = 30;
constexpr size_t part_bytes = size_t{8} << 20;  // of what send and receive have under way

Context::Setup::Setup(Context& context, double limit_s, SetupCall call) : context_(context) {
  if (context.in_setup_.exchange(true))
    throw Error(
        Kind::request,
        "another thread is in a collective call of Tide on this communicator; make them one "
        "after another");
  try {
    const std::lock_guard lock(context.mutex);
    context.check_whole();
    context.setup_limit_s_ = limit_s;
    context.setups_++;
    context.in_ = call;
    context.publish_position();
  } catch (...) {
    context.in_setup_ = false;
    throw;
  }
  try {
    context.agree_on_setup(call);
  } catch (...) {
    leave();
    throw;
  }
}

Context::Setup::~Setup() { leave(); }

void Context::Setup::leave() {
  {
    const std::lock_guard lock(context_.mutex);
    context_.in_ = SetupCall::none;
    context_.publish_position();
  }
  context_.in_setup_ = false;
}

// The first exchange of every set-up: what follows is of one kind on all ranks.
void Context::agree_on_setup(SetupCall call) {
  int64_t least[2] = {static_cast<int64_t>(call), -static_cast<int64_t>(call)};
  this->least(least, 2);
  if (least[0] == -least[1]) return;
  const std::vector<SetupCall> all = gather_all(call);
  size_t r = 0;
  while (all[r] == all[0]) r++;
  throw Error(Kind::mismatch, "rank {} is in {} but rank 0 in {}; make the same call on all ranks",
              r, name(all[r]), name(all[0]));
}

int Context::comm_size() const {
  int size = 0;
  MPI_Comm_size(dup_, &size);
  return size;
}

// `keep`: what MPI reads and writes until the request is complete; it stays where a silent rank
// keeps it from completing.
void Context::finish(MPI_Request& request, std::vector<std::byte>& keep, const char* what) {
  int flag = 0;
  process_.progress().wait(*this, [&] {
    check_mpi(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), what);
    return flag || broken();
  });
  {
    const std::lock_guard lock(mutex);
    setup_steps_++;
    moved_++;
  }
  if (flag) return;
  never_free_value(std::move(keep));  // MPI may still write there
  const std::lock_guard lock(mutex);
  check_whole();
}

void Context::gather_bytes(const void* mine, void* all, size_t bytes) {
  const size_t ranks = static_cast<size_t>(comm_size());
  std::vector<std::byte> keep((ranks + 1) * bytes);
  std::memcpy(keep.data(), mine, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(keep.data(), static_cast<int>(bytes), MPI_BYTE, keep.data() + bytes,
                           static_cast<int>(bytes), MPI_BYTE, dup_, &request),
            "MPI_Iallgather");
  finish(request, keep, "MPI_Iallgather");
  std::memcpy(all, keep.data() + bytes, ranks * bytes);
}

void Context::reduce(void* values, size_t bytes_each, int count, MPI_Datatype type, MPI_Op op) {
  const size_t bytes = static_cast<size_t>(count) * bytes_each;
  if (!bytes) return;
  std::vector<std::byte> keep(2 * bytes);
  std::memcpy(keep.data(), values, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(keep.data(), keep.data() + bytes, count, type, op, dup_, &request),
            "MPI_Iallreduce");
  finish(request, keep, "MPI_Iallreduce");
  std::memcpy(values, keep.data() + bytes, bytes);
}

void Context::least(int64_t* values, int count) {
  reduce(values, sizeof *values, count, MPI_INT64_T, MPI_MIN);
}

void Context::broadcast(void* data, size_t bytes, int root) {
  constexpr size_t most = size_t{1} << 26;
  for (size_t at = 0; at < bytes; at += most) {
    const size_t part = std::min(most, bytes - at);
    std::vector<std::byte> keep(part);
    std::memcpy(keep.data(), static_cast<char*>(data) + at, part);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibcast(keep.data(), static_cast<int>(part), MPI_BYTE, root, dup_, &request),
              "MPI_Ibcast");
    finish(request, keep, "MPI_Ibcast");
    std::memcpy(static_cast<char*>(data) + at, keep.data(), part);
  }
}

void Context::send(const void* data, size_t bytes, int to) {
  for (size_t at = 0; at < bytes; at += part_bytes) {
    const auto* from = static_cast<const std::byte*>(data) + at;
    std::vector<std::byte> keep(from, from + std::min(part_bytes, bytes - at));
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(keep.data(), static_cast<int>(keep.size()), MPI_BYTE, to, data_tag, dup_,
                        &request),
              "MPI_Isend");
    finish(request, keep, "MPI_Isend");
  }
}

void Context::receive(void* data, size_t bytes, int from) {
  for (size_t at = 0; at < bytes; at += part_bytes) {
    std::vector<std::byte> keep(std::min(part_bytes, bytes - at));
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(keep.data(), static_cast<int>(keep.size()), MPI_BYTE, from, data_tag, dup_,
                        &request),
              "MPI_Irecv");
    finish(request, keep, "MPI_Irecv");
    std::memcpy(static_cast<std::byte*>(data) + at, keep.data(), keep.size());
  }
}

void Context::barrier() {
  std::vector<std::byte> keep;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(dup_, &request), "MPI_Ibarrier");
  finish(request, keep, "MPI_Ibarrier");
}

// A duplicate of the user's communicator.  Two barriers come first: an idup that a rank never joins
// keeps Open MPI from making any other communicator, and a rank that comes late passes the first
// one although the others have gone.  Until there is a duplicate nobody can be asked: who is
// missing is not known.
void Context::duplicate(MPI_Comm comm, double limit_s) {
  const double begun_s = now_s();
  const auto no_communicator = [] {
    throw Error(Kind::intern,
                "MPI_Comm_idup failed: MPI has no communicator (context id) left; free "
                "communicators that are not in use");
  };
  bool duplicating = false;
  const auto arrive = [&](MPI_Request& request) {
    int flag = 0;
    process_.progress().wait(*this, [&] {
      const int code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS && duplicating) no_communicator();
      check_mpi(code, "MPI_Ibarrier");
      return flag || (limit_s > 0 && now_s() - begun_s > 2 * limit_s);
    });
    if (flag) return;
    const std::lock_guard lock(mutex);
    broken_kind_ = Kind::timeout;
    broken_ = fmt::format(
        "a rank of the communicator has not come to its first call of Tide within {} s "
        "(tide_timeout = {}); which one is not known before that call; the communicator cannot be "
        "used with Tide any more",
        2 * limit_s, limit_s);
    broken_flag_ = true;
    check_whole();
  };
  for (int i = 0; i < 2; i++) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(comm, &request), "MPI_Ibarrier");
    arrive(request);
  }
  duplicating = true;
  auto made = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Comm_idup(comm, made.get(), &request);
  if (code == MPI_SUCCESS) try {
      arrive(request);
    } catch (...) {
      if (broken()) never_free(std::move(made));  // MPI may still write there
      throw;
    }
  if (code != MPI_SUCCESS || *made == MPI_COMM_NULL) no_communicator();
  dup_ = *made;
}

void Context::agree(const std::optional<Error>& mine) {
  int me = 0;
  MPI_Comm_rank(dup_, &me);
  int64_t lowest = mine ? me : INT32_MAX;
  least(&lowest, 1);
  if (lowest == INT32_MAX) return;
  const int root = static_cast<int>(lowest);
  int head[2] = {0, 0};
  std::string text;
  if (root == me) {
    text = mine->what();
    if (text.rfind("rank ", 0) != 0) text = fmt::format("rank {}: {}", me, text);
    head[0] = static_cast<int>(mine->kind());
    head[1] = static_cast<int>(text.size());
  }
  broadcast(head, sizeof head, root);
  text.resize(static_cast<size_t>(head[1]));
  broadcast(text.data(), text.size(), root);
  throw Error(kind_of({root, static_cast<int16_t>(head[0]), Fault::none, -1}), text);
}

std::optional<Error> Context::attempt(const std::function<void()>& act) {
  try {
    act();
    return {};
  } catch (const Error& e) {
    if (broken()) throw;
    return e;
  } catch (const std::bad_alloc&) {
    return Error(Kind::no_mem, "out of memory; use fewer or smaller parameters per group");
  } catch (const std::exception& e) {
    return Error(Kind::intern, e.what());
  }
}

void Context::together(const std::function<void()>& act) { agree(attempt(act)); }

std::vector<std::shared_ptr<Segment>> Context::share(std::shared_ptr<Segment> mine,
                                                     const std::vector<bool>& has, int device) {
  std::vector<MailAddress> members;
  for (int l = 0; l < topology_.size(node()); l++)
    members.push_back(peer(topology_.rank(node(), l)).mail);
  const uint64_t ticket = ++ticket_;
  if (members.size() == 1) {
    if (mine) mine->close_descriptor();
    return {mine};
  }
  const auto idle = [this] {  // a peer may still be inside the exchange before this one
    progress();
    process_.progress().drive(this);
    enter_mpi();
    process_.progress().tick(*this, true);
    const std::lock_guard lock(mutex);
    check_whole();
  };
  return process_.mailbox().exchange(ticket, topology_.local(rank_), members, has, std::move(mine),
                                     attach_timeout_s, idle, device);
}

void Context::reserve(size_t bytes) {
  const std::vector<uint64_t> wants = gather_all<uint64_t>(bytes);
  bool grow = false;
  std::vector<bool> has;
  for (int l = 0; l < topology_.size(node()); l++) {
    const size_t needed =
        wants[static_cast<size_t>(topology_.comm_rank(topology_.rank(node(), l)))];
    grow |= needed > workspace_->bytes(l);
    has.push_back(needed > 0 || workspace_->bytes(l) > 0);
  }
  // Whether any node may grow is known to all: no rank skips a collective step.
  if (std::all_of(wants.begin(), wants.end(), [](uint64_t w) { return w == 0; })) return;
  std::shared_ptr<Segment> mine;
  together([&] {
    const size_t size = std::max(bytes, workspace_->bytes(topology_.local(rank_)));
    if (grow && size) mine = Segment::create(size * slot_count);
  });
  auto fresh = std::make_shared<WorkspaceSet>();
  together([&] {
    if (!grow) {
      ++ticket_;  // tickets stay equal on all ranks
      return;
    }
    fresh->of = share(mine, has);
    for (int l = 0; l < topology_.size(node()); l++) {
      const size_t needed =
          wants[static_cast<size_t>(topology_.comm_rank(topology_.rank(node(), l)))];
      if (fresh->bytes(l) < needed)
        throw Error(Kind::peer, "a peer's workspace has {} bytes instead of {}", fresh->bytes(l),
                    needed);
    }
  });
  int64_t nobody_grows = grow ? 0 : 1;
  if (ucx_rail_) least(&nobody_grows, 1);
  if (nobody_grows) return;
  if (!grow) *fresh = *workspace_;
  expose(*fresh);
  const std::lock_guard lock(mutex);
  workspace_ = std::move(fresh);
  if (!device_backend_) return;
  try {  // now, in the user's thread
    device_backend(*workspace_);
  } catch (const Error& e) {  // the next call says so on all ranks
    log(Level::warn, fmt::format("rank {}: {}", comm_rank(), e.what()));
  }
}

}  // namespace tide
