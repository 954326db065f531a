// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <system_error>

#include "core/clock.hpp"
#include "core/error.hpp"

namespace tide {

constexpr int spins = 400;       // before a waiting thread gives its core away, or
constexpr double spin_s = 2e-5;  // this long where each look enters a transport that never yields
constexpr double tick_s = 0.01;  // between looks at the clock and at questions of peers
constexpr int thread_yields = 200;  // of the progress thread, before it sleeps for a moment

static thread_local bool no_mpi_here = false;

bool Progress::without_mpi() { return no_mpi_here; }

static void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void Progress::activate(std::shared_ptr<Context> context) {
  const std::lock_guard lock(mutex_);
  if (std::find(active_.begin(), active_.end(), context) != active_.end()) return;
  active_.push_back(std::move(context));
  active_count_ = active_.size();
  wake_.notify_one();
}

void Progress::deactivate(const Context* context) {
  std::shared_ptr<Context> last;  // let go outside of the lock
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(active_.begin(), active_.end(),
                               [&](const auto& c) { return c.get() == context; });
  if (at == active_.end()) return;
  last = std::move(*at);
  active_.erase(at);
  active_count_ = active_.size();
}

std::vector<std::shared_ptr<Context>> Progress::copy_active() const {
  const std::lock_guard lock(mutex_);
  return active_;
}

bool Progress::drive(const Context* but) {
  if (active_count_ == 0) return false;
  bool moved = false;
  for (const auto& context : copy_active())
    if (context.get() != but) moved |= context->progress();
  return moved;
}

// Spin briefly, then give the core away and enter MPI, so that a peer that is blocked in MPI gets
// on.
void Progress::rest(Context& mine, int idle) {
  static thread_local double spin_until_s = 0;
  static thread_local bool spinning = true;
  if (idle == 1) {
    spinning = true;
    if (mine.drives_rail()) spin_until_s = now_s() + spin_s;
  }
  if (spinning && idle < spins) {
    if (idle % 16 == 0) {
      drive(&mine);
      spinning = !mine.drives_rail() || now_s() < spin_until_s;
    }
    return pause();
  }
  drive(&mine);
  mine.enter_mpi();
  tick(mine, true);
  sched_yield();
}

void Progress::tick(Context& mine, bool waiting) {
  const double now = now_s();
  double due = next_tick_s_;
  if (now < due || !next_tick_s_.compare_exchange_strong(due, now + tick_s)) return;
  mine.tick(waiting);
  for (const auto& context : mine.process().contexts())
    if (context.get() != &mine) context->tick(context->has_stream_calls());
}

void Progress::watch(const std::vector<std::shared_ptr<Context>>& contexts) {
  const double now = now_s();
  if (now < next_watch_s_) return;
  next_watch_s_ = now + tick_s;
  for (const auto& context : contexts) {
    if (!context->has_stream_calls()) continue;
    if (may_call_mpi_) return tick(*context, true);  // which looks at the others, too
    context->tick_without_mpi();
  }
}

bool Progress::start_thread(bool may_call_mpi) {
  const std::lock_guard lock(mutex_);
  may_call_mpi_ = may_call_mpi;
  if (running_) return false;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  stop_ = false;
  try {
    thread_ = std::thread([this] { run(); });
    running_ = true;
  } catch (const std::system_error& e) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw Error(Kind::no_mem,
                "tide_progress = thread: no thread can be started ({}); raise the limit of "
                "processes (ulimit -u) or use poll",
                e.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return true;
}

void Progress::stop_thread() {
  {
    const std::lock_guard lock(mutex_);
    if (!running_) return;
    stop_ = true;
    wake_.notify_one();
  }
  thread_.join();
  running_ = false;
}

void Progress::drain() {
  constexpr double idle_limit_s = 0.2;
  for (double moved_s = now_s(); active_count_ > 0 && now_s() - moved_s < idle_limit_s;) {
    if (drive(nullptr)) moved_s = now_s();
    for (const auto& context : copy_active()) context->enter_mpi();
    sched_yield();
  }
}

bool Progress::drive_and_watch() {
  bool moved = false;
  no_mpi_here = !may_call_mpi_;
  const std::vector<std::shared_ptr<Context>> contexts = copy_active();
  for (const auto& context : contexts)
    if (may_call_mpi_ || context->topology().nodes() == 1) moved |= context->progress();
  watch(contexts);
  return moved;
}

void Progress::run() {
  pthread_setname_np(pthread_self(), "tide-progress");
  gpu::put_off_graphs();
  prctl(PR_SET_TIMERSLACK, 1000);  // ns: a short sleep is to be short
  for (int idle = 0; !stop_; idle++) {
    if (active_count_ == 0) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !active_.empty(); });
      idle = 0;
    }
    if (drive_and_watch())
      idle = 0;
    else if (idle < spins)
      pause();
    else if (idle < spins + thread_yields)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

}  // namespace tide
