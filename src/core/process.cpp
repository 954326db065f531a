// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/process.hpp"

#include <algorithm>

#include "core/clock.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/progress.hpp"
#include "core/settings.hpp"

namespace tide {

extern "C" {
static int delete_context(MPI_Comm, int, void* value, void*) {
  auto* holder = static_cast<std::shared_ptr<Context>*>(value);
  (*holder)->user_freed();
  delete holder;
  return MPI_SUCCESS;
}
static int delete_process(MPI_Comm, int, void* value, void*) {
  static_cast<Process*>(value)->at_finalize();
  return MPI_SUCCESS;
}
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
  static Process* process = new Process;  // outlives static destructors on purpose
  return *process;
}

Process::Process()
    : number(random_number()),
      probe_word(random_number()),
      progress_(std::make_unique<Progress>()) {
  check_environment();
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_context, &context_key_, nullptr);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_process, &self_key_, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, self_key_, this);
}

std::shared_ptr<Context> Process::context_of(MPI_Comm comm) {
  void* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(comm, context_key_, &value, &flag);
  return flag ? *static_cast<std::shared_ptr<Context>*>(value) : nullptr;
}

void Process::keep(MPI_Comm comm, std::shared_ptr<Context> context) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(contexts_, [](const auto& c) { return c.expired(); });
    contexts_.push_back(context);
  }
  MPI_Comm_set_attr(comm, context_key_, new std::shared_ptr<Context>(std::move(context)));
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

void Process::at_finalize() {
  std::vector<std::weak_ptr<Context>> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(contexts_);
  }
  progress_->stop_thread();
  for (const auto& weak : all)
    if (const auto context = weak.lock()) context->let_go();
  memory.clear();
}

}  // namespace tide
