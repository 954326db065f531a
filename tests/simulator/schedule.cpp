// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "schedule.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace simulator {

namespace {

constexpr double watchdog_s = 300;  // free: a run that takes longer hangs
constexpr uint64_t most_idle_us = 400'000'000, most_idle_turns_a_rank = 2000;

double clock_s() {
  using namespace std::chrono;
  static const auto start = steady_clock::now();
  return duration<double>(steady_clock::now() - start).count();
}

}  // namespace

struct Schedule::Seat {
  int rank = 0;
  sem_t turn;
  std::thread thread;
  std::function<bool()> ready;         // set: waits until it holds
  std::function<std::string()> where;  // empty: does not wait in MPI
  std::string doing = "starting";
  mutable std::mutex text;  // of the two strings, in free mode
  bool done = false;
  uint64_t weight = 1, idle = 0, preempt_in = 0;
  int held = 0;
  std::mt19937_64 random;
  Seat() { sem_init(&turn, 0, 0); }
  ~Seat() { sem_destroy(&turn); }
};

static thread_local Schedule* my_schedule = nullptr;
static thread_local int my_rank_now = -1;
Schedule* schedule() { return my_schedule; }
int my_rank() { return my_rank_now; }

Schedule::Schedule(Mode mode, int ranks)
    : mode_(std::move(mode)),
      random_(mode_.seed * 2 + 1),
      names_(std::hash<std::string>()(mode_.replay)) {
  sem_init(&all_done_, 0, 0);
  for (int r = 0; r < ranks; r++) {
    seats_.push_back(std::make_unique<Seat>());
    seats_.back()->rank = r;
    seats_.back()->random.seed(mode_.seed * 1000003 + static_cast<uint64_t>(r));
  }
  static constexpr uint64_t delays[] = {0, 8, 60, 800}, blocks[] = {0, 0, 3000, 300, 40};
  delay_most_us_ = delays[random_() % std::size(delays)];
  delay_kind_ = static_cast<int>(random_() % 2);
  preempt_every_ = blocks[random_() % std::size(blocks)];
  for (const Stall& s : mode_.stalls) alarms_.push(s.until_us);
  draw_weights();
}

Schedule::~Schedule() { sem_destroy(&all_done_); }

// Some ranks are quick, some slow, and that changes.
void Schedule::draw_weights() {
  static constexpr uint64_t weights[] = {1, 1, 1, 4, 16, 64};
  for (auto& seat : seats_) seat->weight = weights[random_() % std::size(weights)];
  reweigh_at_ = turns_ + 50 + random_() % 2000;
}

// One thread runs at a time: on one core the turn changes hands several times as quickly.
static void stay_on_one_core() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(std::max(0, sched_getcpu())), &one);
  sched_setaffinity(0, sizeof one, &one);  // of this thread and those that it makes
}

void Schedule::run(const std::function<void(int)>& body) {
  if (deterministic()) stay_on_one_core();
  running_ = static_cast<int>(seats_.size());
  for (auto& owned : seats_) {
    Seat* seat = owned.get();
    seat->thread = std::thread([this, seat, &body] {
      my_schedule = this;
      my_rank_now = seat->rank;
      if (deterministic()) sem_wait(&seat->turn);
      body(seat->rank);
      seat->done = true;
      const bool last = --running_ == 0;
      Seat* next = deterministic() && !last ? pick() : nullptr;
      my_schedule = nullptr;  // the thread's own destructors run without the turn
      my_rank_now = -1;
      if (last) sem_post(&all_done_);
      if (next) sem_post(&next->turn);
    });
  }
  if (deterministic()) {
    sem_post(&pick()->turn);
    sem_wait(&all_done_);
  } else {
    watch();
  }
  for (auto& seat : seats_) seat->thread.join();
}

void Schedule::watch() {
  for (const double begin_s = clock_s(); running_ > 0; usleep(500))
    if (clock_s() - begin_s > watchdog_s) fail("still running after a long time");
}

bool Schedule::may_run(const Seat& seat) {
  if (seat.done) return false;
  for (const Stall& s : mode_.stalls)
    if (s.rank == seat.rank && time_us_ >= s.from_us && time_us_ < s.until_us) return false;
  return !seat.ready || seat.ready();
}

Schedule::Seat* Schedule::pick() {
  turns_++;
  // Where nobody finds anything to do, time passes quickly: somebody may be waiting for it.
  const uint64_t lazy = idle_turns_ / (16 * seats_.size());
  time_us_ += uint64_t{1} << std::min<uint64_t>(lazy, 6);
  if (turns_ >= reweigh_at_) draw_weights();
  if (idle_turns_ > most_idle_turns_a_rank * seats_.size() &&
      time_us_ - idle_since_us_ > most_idle_us)
    fail("no rank gets on");
  std::vector<std::pair<Seat*, uint64_t>> able;
  uint64_t total = 0;
  for (;;) {
    for (auto& seat : seats_) {
      if (!may_run(*seat)) continue;
      // While time flies all ranks are alike, or the slow ones would sleep through their timeouts.
      const uint64_t weight =
          lazy ? 1 : std::max<uint64_t>(1, 64 * seat->weight >> std::min<uint64_t>(seat->idle, 8));
      able.emplace_back(seat.get(), weight);
      total += weight;
    }
    if (!able.empty()) break;
    while (!alarms_.empty() && alarms_.top() <= time_us_) alarms_.pop();
    if (alarms_.empty()) fail("deadlock: every rank waits");
    time_us_ = alarms_.top();
  }
  uint64_t drawn = random_() % total;
  for (const auto& [seat, weight] : able) {
    if (drawn < weight) return event("turn", static_cast<uint64_t>(seat->rank)), seat;
    drawn -= weight;
  }
  return able.back().first;
}

void Schedule::hand_over(Seat* from) {
  Seat* next = pick();
  if (next == from) return;
  sem_post(&next->turn);
  sem_wait(&from->turn);
}

void Schedule::turn(Turn kind) {
  Seat& me = *seats_[static_cast<size_t>(my_rank_now)];
  if (!deterministic()) {
    if (kind == Turn::idle) sched_yield();
    return;
  }
  if (me.held) return;
  if (kind == Turn::idle)
    me.idle++, idle_turns_++;
  else
    me.idle = 0;
  hand_over(&me);
}

void Schedule::maybe_turn() {
  if (deterministic() && random_() % 4 == 0) turn(Turn::moved);
}

void Schedule::preempt() {
  if (!deterministic() || preempt_every_ == 0) return;
  Seat& me = *seats_[static_cast<size_t>(my_rank_now)];
  if (me.held || me.preempt_in-- > 0) return;
  me.preempt_in = me.random() % (2 * preempt_every_);
  hand_over(&me);
}

void Schedule::hold(int change) { seats_[static_cast<size_t>(my_rank_now)]->held += change; }

void Schedule::wait_until(const std::function<bool()>& ready,
                          const std::function<std::string()>& where) {
  Seat& me = *seats_[static_cast<size_t>(my_rank_now)];
  {
    const std::lock_guard lock(me.text);
    me.where = where;
  }
  if (deterministic()) {
    me.ready = ready;
    me.idle = 0;
    hand_over(&me);
    me.ready = nullptr;
  } else {
    for (int tries = 0; !ready(); tries++) tries < 50 ? sched_yield() : usleep(50);
  }
  const std::lock_guard lock(me.text);
  me.where = nullptr;
}

uint64_t Schedule::now_us() const {
  return deterministic() ? time_us_ : static_cast<uint64_t>(clock_s() * 1e6);
}

uint64_t Schedule::random() {
  return deterministic() ? random_() : seats_[static_cast<size_t>(my_rank_now)]->random();
}

uint64_t Schedule::name() { return names_(); }

uint64_t Schedule::delay_us() {
  if (delay_most_us_ == 0) return 0;
  const uint64_t delay = random() % (delay_most_us_ + 1);
  return delay_kind_ == 0 || chance(8) == 0 ? delay : delay / 16;  // all alike, or a few late
}

void Schedule::wake_at(uint64_t time_us) {
  if (deterministic()) alarms_.push(time_us);
}

void Schedule::event(const char* what, uint64_t a, uint64_t b, uint64_t c) {
  if (!deterministic()) return;
  const bool turn = what == std::string_view("turn");
  if (!turn) idle_turns_ = 0, idle_since_us_ = time_us_;
  for (const uint64_t word :
       {static_cast<uint64_t>(what[0]), static_cast<uint64_t>(my_rank_now), a, b, c, time_us_}) {
    hash_ = (hash_ ^ word) * 0x9E3779B97F4A7C15u;
    hash_ ^= hash_ >> 29;
  }
  if (mode_.verbose && !turn)
    std::fprintf(stderr, "%8llu rank %d %s %llu %llu %llu\n",
                 static_cast<unsigned long long>(time_us_), my_rank_now, what,
                 static_cast<unsigned long long>(a), static_cast<unsigned long long>(b),
                 static_cast<unsigned long long>(c));
}

void Schedule::doing(std::string what) {
  Seat& me = *seats_[static_cast<size_t>(my_rank_now)];
  if (mode_.verbose && deterministic())
    std::fprintf(stderr, "%8llu rank %d: %s\n", static_cast<unsigned long long>(time_us_),
                 my_rank_now, what.c_str());
  const std::lock_guard lock(me.text);
  me.doing = std::move(what);
}

std::string Schedule::where_all() const {
  std::string text;
  for (const auto& seat : seats_) {
    const std::lock_guard lock(seat->text);
    const std::string where = seat->where ? "waits for " + seat->where() : "spins or runs";
    text += fmt::format("  rank {}: {}\n", seat->rank,
                        seat->done ? "has ended" : seat->doing + ", " + where);
  }
  return text;
}

void Schedule::fail(const std::string& why) {
  std::fprintf(stderr, "seed %llu: %s at %llu us\n%sreplay: %s\n",
               static_cast<unsigned long long>(mode_.seed), why.c_str(),
               static_cast<unsigned long long>(now_us()), where_all().c_str(),
               mode_.replay.c_str());
  std::fflush(nullptr);
  std::_Exit(1);  // threads that wait cannot be unwound
}

}  // namespace simulator
