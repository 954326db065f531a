// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Who drives calls: every blocking call, wait and test of any thread drives all active requests of
// the process, and so does the progress thread where a group asked for one.  All waiting of the
// library is done here.
#pragma once
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/context.hpp"

namespace tide {

class Progress {
 public:
  // The context has requests that nobody may be waiting for / has none any more.
  void activate(std::shared_ptr<Context> context);
  void deactivate(const Context* context);
  bool drive(const Context* but);  // all active contexts but this one; true if anything moved

  // Drives `mine` and the others until done().  `mine` also learns of time: Context::tick.
  template <class Done>
  void wait(Context& mine, Done done) {
    constexpr int slices = 64;  // a rank that moves a lot still answers the others
    for (int idle = 0, moved = 0; !done();) {
      if (!mine.progress()) {
        rest(mine, ++idle);
        continue;
      }
      idle = 0;
      if (mine.drives_rail()) sched_yield();  // a peer on this core may have to answer its rail
      if (++moved % slices == 0) tick(mine, true);
    }
  }
  void rest(Context& mine, int idle);      // spin; then the others, MPI, the clock, the core
  void tick(Context& mine, bool waiting);  // all contexts of the process; cheap when called often

  // From now on; idempotent: true where it was not running.  The thread stays inside the CPUs of
  // its maker, takes no signals, and sleeps while nothing is active.
  bool start_thread(bool may_call_mpi);
  void stop_thread();
  // At finalize: what the user left active is completed, as far as it goes by itself.
  void drain();
  // On a thread of Tide's own where MPI may not be called.
  static bool without_mpi();

 private:
  void run();
  bool drive_and_watch();
  // The time of calls that nobody waits for but a stream.
  void watch(const std::vector<std::shared_ptr<Context>>& contexts);
  std::vector<std::shared_ptr<Context>> copy_active() const;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<Context>> active_;
  std::atomic<size_t> active_count_ = 0;
  std::atomic<double> next_tick_s_ = 0;
  double next_watch_s_ = 0;  // of the thread
  std::thread thread_;
  std::atomic<bool> running_ = false, stop_ = false, may_call_mpi_ = false;
};

}  // namespace tide
