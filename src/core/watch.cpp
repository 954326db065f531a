// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/watch.hpp"

#include <algorithm>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/left_behind.hpp"

namespace tide {

constexpr double least_grace_s = 0.5;
constexpr double longest_step_s = 1;  // a process that was not here for longer did not wait
constexpr double longest_grace_step_s = 0.25;  // answers must have had time to come
constexpr int asks = 4;                        // in the grace
constexpr double order_s = 1;                  // without a limit: when to ask for the order

// The promise is twice the limit and a second, on a busy machine, too.
static double grace_s(double limit_s) { return std::max(0.75 * limit_s, least_grace_s); }

Watch::Watch(MPI_Comm comm) : comm_(comm) {
  MPI_Comm_rank(comm, &me_);
  MPI_Comm_size(comm, &size_);
  last_tick_s_ = now_s();
}

// A message that a stopped peer does not take keeps its memory.
Watch::~Watch() {
  int finished = 0;
  MPI_Finalized(&finished);
  int flag = 1;
  for (Sending& s : sending_)
    if (!finished && flag) MPI_Test(&s.request, &flag, MPI_STATUS_IGNORE);
  if (!flag || finished) never_free_value(std::move(sending_));
}

void Watch::send(int to, Kind kind, const Here& here, const Status& verdict) {
  Sending& s = sending_.emplace_back();
  s.notice = {
      kind,           me_,    round_, here.moved, here.entered, encode(here.position), here.where,
      here.elsewhere, verdict};
  MPI_Isend(&s.notice, sizeof s.notice, MPI_BYTE, to, watch_tag, comm_, &s.request);
}

std::optional<Status> Watch::tick(const Here& here) {
  const double now = now_s(),
               step = std::min(now - last_tick_s_, asking_ ? longest_grace_step_s : longest_step_s);
  last_tick_s_ = now;
  if (auto heard = hear(here)) return heard;
  while (!sending_.empty()) {
    int flag = 0;
    MPI_Test(&sending_.front().request, &flag, MPI_STATUS_IGNORE);
    if (!flag) break;
    sending_.pop_front();
  }
  ask_for_order(here, step);
  if (here.moved != moved_ || here.limit_s <= 0) {
    moved_ = here.moved;
    idle_s_ = 0;
    asking_ = false;
    return {};
  }
  if (!here.waiting) return {};
  idle_s_ += step;
  if (idle_s_ < here.limit_s) return {};
  if (!asking_) {
    asking_ = true;
    idle_s_ = here.limit_s;
    heard_.assign(static_cast<size_t>(size_), {});
    round_++;
    next_ask_s_ = 0;
  }
  const double end_s = here.limit_s + grace_s(here.limit_s);
  if (idle_s_ >= next_ask_s_ && idle_s_ < end_s) ask_all(here);
  if (anything_moved()) {
    idle_s_ = 0;
    asking_ = false;
    return {};
  }
  if (idle_s_ < end_s) return {};
  return verdict(here);
}

// Ranks of other nodes may be out of order: the one that this rank waits for says where it is, and
// hears it.  It may go another way later: asked again ever more seldom.
void Watch::ask_for_order(const Here& here, double step_s) {
  if (here.moved != moved_ || here.limit_s > 0) {
    unlimited_s_ = 0;
    next_order_s_ = order_s;
    return;
  }
  if (here.waiting) unlimited_s_ += step_s;
  const int peer = here.where.peer;
  if (unlimited_s_ < next_order_s_ || peer < 0 || peer == me_) return;
  send(peer, ask, here);
  next_order_s_ = 2 * unlimited_s_;
}

Status Watch::another_way(const Position& here, int me, const Position& there, int other) {
  const bool in_setup = there.in != SetupCall::none || here.in == SetupCall::none;
  const Position& p = in_setup ? there : here;
  return {in_setup ? other : me, static_cast<int16_t>(tide::Kind::mismatch), Fault::another_way, -1,
          static_cast<int32_t>(p.in)};
}

void Watch::ask_all(const Here& here) {
  for (int r = 0; r < size_; r++)
    if (r != me_) send(r, ask, here);
  next_ask_s_ = idle_s_ + grace_s(here.limit_s) / asks;
}

std::optional<Status> Watch::hear(const Here& here) {
  for (;;) {
    int flag = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, watch_tag, comm_, &flag, &status) != MPI_SUCCESS || !flag)
      return {};
    Notice notice{};
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (MPI_Recv(&notice, sizeof notice, MPI_BYTE, status.MPI_SOURCE, watch_tag, comm_,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return {};
    // What cannot be true is not used, whoever says it.
    if (bytes != sizeof notice || notice.from != status.MPI_SOURCE) continue;
    if (notice.kind == alarm) {
      const Status& v = notice.verdict;
      if (v.rank < 0 || v.rank >= size_ || v.kind <= 0 ||
          v.kind > static_cast<int>(tide::Kind::other))
        continue;
      told_ = true;  // its sender tells everybody
      return notice.verdict;
    }
    if (const Position there = decode_position(notice.position);
        out_of_order(here.position, there)) {
      if (notice.kind == ask) send(notice.from, answer, here);
      return another_way(here.position, me_, there, notice.from);
    }
    if (notice.kind == ask) {
      const uint64_t mine = std::exchange(round_, notice.round);  // answers carry the asker's
      send(notice.from, answer, here);
      round_ = mine;
    } else if (notice.kind == answer && asking_ && notice.round == round_) {
      Heard& h = heard_[static_cast<size_t>(notice.from)];
      if (!h.any) h.moved_first = notice.moved;
      h.any = true;
      h.last = notice;
    }
  }
}

bool Watch::anything_moved() const {
  return std::any_of(heard_.begin(), heard_.end(),
                     [](const Heard& h) { return h.any && h.last.moved != h.moved_first; });
}

Status Watch::accuse(int rank, const Here& here) const {
  const Heard& h = heard_[static_cast<size_t>(rank)];
  const bool absent = here.where.phase == Phase::setup ? h.last.where.phase == Phase::over
                                                       : h.last.entered < here.where.call;
  const Fault fault = !h.any                                  ? Fault::silent
                      : !absent                               ? Fault::stuck
                      : h.last.elsewhere.phase != Phase::over ? Fault::elsewhere
                                                              : Fault::not_entered;
  return {rank, static_cast<int16_t>(tide::Kind::timeout), fault, -1};
}

// From rank to rank, each to the one that it waits for.
Status Watch::verdict(const Here& here) const {
  const auto silent = [&](int r) { return r != me_ && !heard_[static_cast<size_t>(r)].any; };
  for (int r : here.missing)
    if (silent(r)) return accuse(r, here);
  std::vector<bool> seen(static_cast<size_t>(size_));
  seen[static_cast<size_t>(me_)] = true;
  for (int r = here.where.peer; r >= 0 && r < size_ && !seen[static_cast<size_t>(r)];) {
    seen[static_cast<size_t>(r)] = true;
    const Heard& h = heard_[static_cast<size_t>(r)];
    // One that is in an earlier call waits for somebody itself.
    if (!h.any || h.last.where.phase == Phase::over) return accuse(r, here);
    r = h.last.where.peer;
  }
  for (int r = 0; r < size_; r++)
    if (silent(r)) return accuse(r, here);
  for (int r = 0; r < size_; r++)  // in set-up: who is behind
    if (r != me_ && here.where.phase == Phase::setup &&
        (heard_[static_cast<size_t>(r)].last.where.phase != Phase::setup ||
         heard_[static_cast<size_t>(r)].last.where.call < here.where.call))
      return accuse(r, here);
  return accuse(here.where.peer >= 0 ? here.where.peer : me_, here);
}

void Watch::tell(const Status& verdict) {
  if (std::exchange(told_, true)) return;
  for (int r = 0; r < size_; r++)
    if (r != me_) send(r, alarm, {}, verdict);
}

std::vector<std::string> Watch::report(const Here& here) const {
  std::vector<std::string> lines{fmt::format("rank {} (this one): {}", me_, words(here.where))};
  for (int r = 0; r < size_; r++) {
    if (r == me_ || static_cast<size_t>(r) >= heard_.size()) continue;
    const Heard& h = heard_[static_cast<size_t>(r)];
    std::string line = h.any ? words(h.last.where) : "does not answer";
    if (h.any && h.last.elsewhere.phase != Phase::over)
      line += fmt::format("; on another communicator {}", words(h.last.elsewhere));
    lines.push_back(fmt::format("rank {}: {}", r, line));
  }
  return lines;
}

}  // namespace tide
