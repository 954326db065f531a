// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Who runs next.  Deterministic: one rank's thread holds the turn; at every call of MPI, every spin
// and at seeded basic blocks of the library the next rank is drawn from the seed.  Time is
// simulated, so a rank that waits for ever is found at once.  Free: the threads run as they like,
// for a thread sanitizer to watch.
#pragma once
#include <semaphore.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace simulator {

struct Stall {  // a rank that gets no turn in this time
  int rank = -1;
  uint64_t from_us = 0, until_us = 0;
};

struct Mode {
  bool deterministic = true;
  uint64_t seed = 0;
  bool verbose = false;
  std::string replay;  // the command that runs this seed again
  std::vector<Stall> stalls;
  bool leaves_behind = false;  // what is left at the end is not looked at
};

enum class Turn { idle, moved };  // idle: found nothing to do

class Schedule {
 public:
  Schedule(Mode mode, int ranks);
  ~Schedule();
  // Runs body(rank) on a thread of each rank; returns when all have ended.
  void run(const std::function<void(int)>& body);

  bool deterministic() const { return mode_.deterministic; }
  void turn(Turn kind);  // others may run now
  void maybe_turn();     // the same, sometimes
  void preempt();        // from a basic block of the library
  void wait_until(const std::function<bool()>& ready, const std::function<std::string()>& where);
  uint64_t now_us() const;
  uint64_t random();    // of the seed; free: of the rank
  uint64_t name();      // a random number that no other run in progress draws
  uint64_t delay_us();  // of a message or of a completion
  uint64_t chance(uint64_t n) { return random() % n; }
  void wake_at(uint64_t time_us);  // something becomes ready then
  void event(const char* what, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0);
  void doing(std::string what);  // what this rank's program is at, for reports
  uint64_t log_hash() const { return hash_; }
  uint64_t turns() const { return turns_; }
  [[noreturn]] void fail(const std::string& why);
  std::atomic<int> failures = 0;
  void hold(int change);  // > 0: this thread must keep the turn (it is inside a static initializer)

 private:
  struct Seat;
  Seat* pick();
  bool may_run(const Seat& seat);
  void hand_over(Seat* from);
  void draw_weights();
  void watch();
  std::string where_all() const;

  Mode mode_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::mt19937_64 random_, names_;
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> alarms_;
  uint64_t time_us_ = 0, turns_ = 0, hash_ = 0, reweigh_at_ = 0;
  uint64_t idle_turns_ = 0, idle_since_us_ = 0;
  uint64_t delay_most_us_ = 0, preempt_every_ = 0;
  int delay_kind_ = 0;
  std::atomic<int> running_ = 0;
  sem_t all_done_;
};

Schedule* schedule();  // the one that the calling thread belongs to; null: none
int my_rank();         // of the calling thread, in the world; -1: none

}  // namespace simulator
