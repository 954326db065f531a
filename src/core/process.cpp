// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/process.hpp"

#include <algorithm>

#include "core/clock.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/launch.hpp"
#include "core/progress.hpp"
#include "core/settings.hpp"
#if TIDE_HAVE_UCX
#include "backend/rail/ucx_worker.hpp"
#endif

namespace tide {

extern "C" {
static int delete_context(MPI_Comm, int, void* value, void*) {
  auto* holder = static_cast<std::shared_ptr<Context>*>(value);
  (*holder)->user_freed();
  delete holder;
  return MPI_SUCCESS;
}
static int delete_process(MPI_Comm self, int, void* value, void*);
}

namespace {

struct Keys {
  int context = MPI_KEYVAL_INVALID, process = MPI_KEYVAL_INVALID;
  Keys() {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_context, &context, nullptr);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_process, &process, nullptr);
  }
};
const Keys& keys() {
  static const Keys made;
  return made;
}

// The record that MPI_Finalize has taken off MPI_COMM_SELF, for what is called between that and
// MPI's end.
struct Finalized {
  std::mutex mutex;
  MPI_Comm self = MPI_COMM_NULL;
  Process* process = nullptr;
};
Finalized& finalized() {
  static auto& last = *new Finalized;  // outlives static destructors on purpose, as records do
  return last;
}

Process* attached() {
  void* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_SELF, keys().process, &value, &flag);
  return flag ? static_cast<Process*>(value) : nullptr;
}

}  // namespace

static int delete_process(MPI_Comm self, int, void* value, void*) {
  auto* process = static_cast<Process*>(value);
  {
    const std::lock_guard lock(finalized().mutex);
    finalized().self = self;
    finalized().process = process;
  }
  process->at_finalize();
  return MPI_SUCCESS;
}

bool Process::usable() {
  int started = 0, finished = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&finished);
  return started && !finished;
}

Process& Process::get() {
  if (!usable())
    throw Error(Kind::other,
                "Tide is used before MPI_Init or after MPI_Finalize; call it in between");
  if (Process* known = attached()) return *known;
  const std::lock_guard lock(finalized().mutex);
  if (finalized().process && finalized().self == MPI_COMM_SELF) return *finalized().process;
  if (Process* known = attached()) return *known;
  auto* made = new Process;
  MPI_Comm_set_attr(MPI_COMM_SELF, keys().process, made);
  return *made;
}

Process::Process()
    : number(random_number()),
      probe_word(random_number()),
      progress_(std::make_unique<Progress>()) {
  check_environment();
  check_launch();
}

Process::~Process() = default;

std::shared_ptr<Context> Process::context_of(MPI_Comm comm) {
  void* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(comm, keys().context, &value, &flag);
  return flag ? *static_cast<std::shared_ptr<Context>*>(value) : nullptr;
}

void Process::keep(MPI_Comm comm, std::shared_ptr<Context> context) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(contexts_, [](const auto& c) { return c.expired(); });
    contexts_.push_back(context);
  }
  MPI_Comm_set_attr(comm, keys().context, new std::shared_ptr<Context>(std::move(context)));
}

std::optional<Error> Process::open_mailbox() {
  const std::lock_guard lock(mutex_);
  try {
    if (!mailbox_) mailbox_ = std::make_unique<Mailbox>();
  } catch (const Error& e) {
    return e;
  }
  return {};
}

#if TIDE_HAVE_UCX
std::shared_ptr<UcxWorker> Process::ucx(const std::string& device) {
  const std::lock_guard lock(mutex_);
  auto& worker = ucx_[device];
  if (!worker) worker = UcxWorker::make(device);
  return worker;
}
#endif

std::vector<std::shared_ptr<Context>> Process::contexts() const {
  std::vector<std::shared_ptr<Context>> live;
  const std::lock_guard lock(mutex_);
  for (const auto& weak : contexts_)
    if (auto context = weak.lock()) live.push_back(std::move(context));
  return live;
}

void Process::waits(const Context* context, const Where& where) {
  const std::lock_guard lock(mutex_);
  waits_on_ = context;
  waits_where_ = where;
  waits_at_s_ = now_s();
}

Where Process::waits_elsewhere(const Context* than) const {
  constexpr double fresh_s = 0.2;
  const std::lock_guard lock(mutex_);
  return waits_on_ != than && now_s() - waits_at_s_ < fresh_s ? waits_where_ : Where{};
}

void Process::remember(SegmentId id, MemoryKind kind) {
  const std::lock_guard lock(mutex_);
  std::sort(kind.members.begin(), kind.members.end());
  kinds_[id] = std::move(kind);
}

void Process::forget(SegmentId id) {
  const std::lock_guard lock(mutex_);
  kinds_.erase(id);
}

bool Process::reaches(SegmentId id, const std::vector<uint64_t>& members, bool& shared) const {
  const std::lock_guard lock(mutex_);
  const auto at = kinds_.find(id);
  if (at == kinds_.end()) return false;
  shared = at->second.shared;
  const auto& known = at->second.members;
  return std::all_of(members.begin(), members.end(),
                     [&](uint64_t m) { return std::binary_search(known.begin(), known.end(), m); });
}

std::shared_ptr<const Multicast> Process::multicast_of(SegmentId id) const {
  const std::lock_guard lock(mutex_);
  const auto at = kinds_.find(id);
  return at == kinds_.end() ? nullptr : at->second.multicast;
}

void Process::at_finalize() {
  std::vector<std::weak_ptr<Context>> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(contexts_);
  }
  // First the thread: from the beginning of MPI_Finalize MPICH takes no locks any more, and two
  // threads must not be in it.
  progress_->stop_thread();
  progress_->drain();
  for (const auto& weak : all)
    if (const auto context = weak.lock()) context->let_go();
  std::vector<std::shared_ptr<const Multicast>>
      last;  // no call uses them any more; let go unlocked
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, kind] : kinds_) last.push_back(std::move(kind.multicast));
  }
  last.clear();
  ucx_.clear();
  memory.clear();
}

}  // namespace tide
