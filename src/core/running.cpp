// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Calls under way on a communicator.  They are numbered as they enter; call n uses slot n mod 2 and
// enters once call n - 2 is over here (and, where it overwrites the inputs of an earlier one, once
// these have been read).
#include <algorithm>
#include <utility>

#include "core/call.hpp"
#include "core/clock.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/left_behind.hpp"
#include "core/log.hpp"
#include "core/progress.hpp"
#include "core/stream_order.hpp"

namespace tide {

void Context::check_whole() const {
  if (broken_flag_) throw Error(broken_kind_, broken_);
}

// Not those that a graph makes: its runs have no place among the program's calls.
void Context::count_call() {
  ++calls_;
  publish_position();
}

void Context::publish_position() const {
  if (node_lines_.size())
    node_lines_.block(node_lines_.local_rank())
        .position.word.store(encode(position()), std::memory_order_release);
}

bool Context::see_positions() {
  if (broken_flag_ || (!in_setup_ && !running_[0] && !running_[1])) return false;
  for (int l = 0; l < node_lines_.size(); l++) {
    const Position there =
        decode_position(node_lines_.block(l).position.word.load(std::memory_order_acquire));
    if (!out_of_order(position(), there)) continue;
    give_up(Watch::another_way(position(), comm_rank(), there,
                               topology_.comm_rank(topology_.rank(node(), l))),
            "");
    return true;
  }
  return false;
}

void Context::enqueue(std::shared_ptr<Group> group, std::shared_ptr<Enqueued> enqueued) {
  count_call();
  if (enqueued) stream_calls_++;
  queued_.push_back({std::move(group), std::move(enqueued)});
  begin_queued();
}

// Runs of graphs that have come to their calls, in front of calls whose streams have not come so
// far.  Later calls are asked first: whatever a stream came to before one that is seen here is then
// seen, too.  Where the host has an operation of a call's group under way, it waits, and with it
// the later ones of its graph.
bool Context::take_graph_calls() {
  std::vector<GraphCall*> came;
  for (size_t k = graph_calls_.size(); k-- > 0;)
    if (graph_calls_[k]->gate->waits()) came.push_back(graph_calls_[k].get());
  if (came.empty()) return false;
  auto place = std::find_if(queued_.begin(), queued_.end(), [](const Queued& q) {
    return q.enqueued && !q.enqueued->outcome->gate->open();
  });
  std::vector<uint64_t> held;  // graphs
  bool taken = false;
  for (size_t k = came.size(); k-- > 0;) {
    GraphCall& c = *came[k];
    if (std::find(held.begin(), held.end(), c.graph) != held.end()) continue;
    if (!broken_flag_ && !c.group->call().try_take_for_stream()) {
      held.push_back(c.graph);
      continue;
    }
    c.gate->let_in();
    const std::shared_ptr<Enqueued> run = c.next_run();
    taken = true;
    if (broken_flag_) {
      c.group->set_async_error({broken_kind_, "{}", broken_});
      run->outcome->kind = broken_kind_;
      run->outcome->message = broken_;
      run->outcome->tell_over();
      continue;
    }
    stream_calls_++;
    place = std::next(queued_.insert(place, {c.group, run}));
  }
  return taken;
}

// False: its stream has not come so far, the group's call before it is not over, or calls of graphs
// have come meanwhile, of which some may go first.
bool Context::start(Call& call, std::shared_ptr<Enqueued>& enqueued) {
  if (!enqueued) return true;
  if (!call.over() || !enqueued->outcome->gate->open() || take_graph_calls()) return false;
  const std::shared_ptr<Enqueued> now = std::move(enqueued);
  call.start(now->arguments, now->outcome, true, now->after, now->workspaces);
  return true;
}

bool Context::begin_queued() {
  bool begun = take_graph_calls();
  while (!queued_.empty()) {
    Call& call = queued_.front().group->call();
    if (!start(call, queued_.front().enqueued)) break;
    const uint64_t number = entered_ + 1;
    auto& slot = running_[number % slot_count];
    if (slot || call.waits()) break;
    if (call.fail_with_last()) {
      queued_.pop_front();
      begun = true;
      continue;
    }
    slot = std::move(queued_.front().group);
    queued_.pop_front();
    entered_ = number;
    call.enter(number);
    begun = true;
  }
  return begun;
}

bool Context::progress() {
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  const bool moved = progress_locked();
  moved_ += moved;
  return moved;
}

bool Context::progress_locked() {
  std::array<std::shared_ptr<Group>, slot_count> ended;  // let go after the rest
  bool moved = false;
  try {
    Status cause;
    if (!broken_flag_ && node_lines_.alarm(cause)) give_up(cause, "");
    hear_after_absence();
    for (size_t k = 0; k < slot_count; k++) {  // the older call first
      auto& group = running_[(entered_ + 1 + k) % slot_count];
      if (!group) continue;
      moved |= group->call().progress();
      if (group->call().over()) ended[k] = std::move(group), group.reset();
    }
    moved |= begin_queued();
  } catch (const LostPeer& e) {
    log(Level::error, fmt::format("rank {}: {}", comm_rank(), e.what()));
    give_up({e.rank(), static_cast<int16_t>(Kind::peer), Fault::lost, -1}, "");
    moved = true;
  } catch (const std::exception& e) {  // what no rank expected: nothing can be done any more
    give_up({comm_rank(), static_cast<int16_t>(Kind::peer), Fault::gave_up, -1}, e.what());
    moved = true;
  }
  const auto gone =
      std::stable_partition(graph_calls_.begin(), graph_calls_.end(),
                            [](const auto& c) { return !*c->graph_gone || c->gate->waits(); });
  const std::vector<std::shared_ptr<GraphCall>> last(gone, graph_calls_.end());
  graph_calls_.erase(gone, graph_calls_.end());
  if (active_ && queued_.empty() && !running_[0] && !running_[1] && graph_calls_.empty()) {
    active_ = false;
    process_.progress().deactivate(this);
  }
  return moved;
}

// A rank that was away may find all that it needs for a call that the others have given up.  On one
// node the alarm line says so, and a thread that may not call MPI drives calls there.
void Context::hear_after_absence() {
  if (topology_.nodes() == 1) return;
  constexpr double absence_s = 0.25, listen_s = 0.0005;
  constexpr int rounds = 200;  // that a message may take MPI, also where others have the core
  const double now = now_s(), away_s = now - std::exchange(last_progress_s_, now);
  if (away_s < absence_s || broken_flag_ || dup_ == MPI_COMM_NULL) return;
  const Watch::Here h = here(false);
  if (h.limit_s <= 0) return;
  if (!watch_) watch_ = std::make_unique<Watch>(dup_);
  for (int round = 0; !broken_flag_ && (round < rounds || now_s() - now < listen_s); round++) {
    enter_mpi();
    if (const auto verdict = watch_->hear(h)) give_up(*verdict, "");
  }
}

void Context::set_active() {
  if (std::exchange(active_, true)) return;
  process_.progress().activate(shared_from_this());
}

// The probe is for a tag that nobody sends: one that finds a message returns at once, without
// progress for the others.
void Context::enter_mpi() const {
  if (Rail* rail = driven_) rail->drive();
  int flag = 0;
  if (dup_ != MPI_COMM_NULL) MPI_Iprobe(MPI_ANY_SOURCE, unused_tag, dup_, &flag, MPI_STATUS_IGNORE);
}

Watch::Here Context::here(bool waiting) const {
  Watch::Here h;
  const auto limit = [&](const Group& group) {  // the shortest of those that wait
    const double s = group.limit_s();
    if (s > 0 && (h.limit_s == 0 || s < h.limit_s)) h.limit_s = s;
  };
  for (size_t k = 0; k < slot_count; k++)
    if (const auto& group = running_[(entered_ + 1 + k) % slot_count]) {
      if (h.where.phase == Phase::over) h.where = group->call().where(h.missing);
      limit(*group);
    }
  for (const auto& next : queued_) limit(*next.group);
  if (h.where.phase == Phase::over && in_setup_) {
    h.where.phase = Phase::setup;
    h.where.call = setup_steps_;
    h.where.in = in_;
    h.limit_s = setup_limit_s_;
  }
  h.moved = moved_;
  h.position = position();
  h.entered = entered_;
  h.waiting = waiting;
  h.elsewhere = process_.waits_elsewhere(this);
  return h;
}

void Context::tick(bool waiting) {
  const std::lock_guard lock(mutex);
  if (dup_ == MPI_COMM_NULL || (!watch_ && broken_flag_)) return;
  if (!watch_) watch_ = std::make_unique<Watch>(dup_);
  if (see_positions()) return;
  const Watch::Here h = here(waiting);
  if (waiting) process_.waits(this, h.where);
  const std::optional<Status> verdict = watch_->tick(h);
  if (!verdict || broken_flag_) return;
  if (h.limit_s > 0 && verdict->fault != Fault::gave_up && verdict->fault != Fault::another_way)
    for (const std::string& line : watch_->report(h)) log(Level::error, "who waits where: " + line);
  give_up(*verdict, "");
}

void Context::tick_without_mpi() {
  const std::lock_guard lock(mutex);
  if (see_positions()) return;
  const Watch::Here h = here(true);
  const double now = now_s();
  if (broken_flag_ || h.limit_s <= 0 || h.missing.empty() || h.moved != quiet_moved_) {
    quiet_moved_ = h.moved;
    quiet_since_s_ = now;
  } else if (now - quiet_since_s_ > 2 * h.limit_s) {  // as long as Watch listens
    give_up({h.missing.front(), static_cast<int16_t>(Kind::timeout), Fault::silent, -1}, "");
  }
}

// The first cause on a node stays, and is told to all ranks.
void Context::give_up(const Status& cause, const std::string& detail) {
  if (broken_flag_) return;
  const Status first = node_lines_.size() ? node_lines_.raise_alarm(cause) : cause;
  std::string text =
      detail.empty() ? describe(first, "") : fmt::format("rank {}: {}", first.rank, detail);
  const Watch::Here h = here(false);
  if (h.where.phase != Phase::over)
    text += fmt::format(" (rank {}: {})", comm_rank(), words(h.where));
  broken_ = text + "; the communicator cannot be used any more: free its groups";
  broken_kind_ = kind_of(first);
  broken_flag_ = true;
  if (!Progress::without_mpi()) {  // else on one node, whose ranks all see the alarm
    if (!watch_ && dup_ != MPI_COMM_NULL) watch_ = std::make_unique<Watch>(dup_);
    if (watch_) watch_->tell(first);
  }
  leave_behind();
  fail_calls(broken_kind_, broken_);
}

void Context::fail_calls(Kind kind, const std::string& why) {
  for (auto& group : running_)
    if (const auto last = std::move(group)) last->call().fail(kind, why);
  for (const auto& last : std::exchange(queued_, {}))
    if (last.enqueued)
      last.group->call().fail_unstarted(*last.enqueued->outcome, kind, why);
    else
      last.group->call().fail(kind, why);
}

// A rank that goes on may still write here, and MPI may still read: such memory stays mapped.
void Context::leave_behind() {
  if (mpi_rail_) mpi_rail_->abandon();
  if (ucx_rail_) ucx_rail_->abandon();
  abandon_device_rail();
  for (const auto& segment : control_) never_free(segment);
  never_free(workspace_);
  never_free(device_workspace_);
  for (const auto& group : running_)
    if (group) never_free(group);
}

}  // namespace tide
