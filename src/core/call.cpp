// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/call.hpp"

#include "core/log.hpp"
#include "mpix_tide.h"

namespace tide {
namespace {

std::vector<size_t> sizes(const std::vector<Param>& params, bool reduce) {
  std::vector<size_t> bytes;
  for (const Param& p : params)
    bytes.push_back(reduce && p.frozen
                        ? 0
                        : static_cast<size_t>(p.elems()) * bytes_of(reduce ? p.grad : p.full));
  return bytes;
}

}  // namespace

Side::Side(Context& context, const std::vector<std::shared_ptr<Segment>>& tables,
           const std::vector<Param>& params, bool reduce)
    : table(context, tables, reduce ? params.size() : 0, params.size()),
      full_bytes(sizes(params, reduce)),
      inputs(params.size()),
      outputs(params.size()) {}

Call::Call(Group& group, const std::vector<std::shared_ptr<Segment>>& tables)
    : group_(group),
      context_(group.context()),
      sides_{Side(context_, tables, group.params(), false),
             Side(context_, tables, group.params(), true)} {
  const Topology& t = context_.topology();
  place(work_, t, context_.rank());
  work_.rail = group.rail();
  eager_gather_ =
      group.gather().plans->layout.total_bytes() <= group.settings().bytes("tide_eager_bytes");
  work_.inflight_bytes = group.settings().bytes("tide_rail_inflight_bytes");
  work_.sum_ctas = static_cast<int>(group.settings().bytes("tide_sum_ctas"));
  work_.landing_ctas = static_cast<int>(group.settings().bytes("tide_landing_ctas"));
  work_.landing_bytes_per_s =
      static_cast<double>(group.settings().bytes("tide_landing_bytes_per_s"));
  for (int l = 0; l < t.size(context_.node()); l++)
    work_.addresses.pid.push_back(context_.peer(t.rank(context_.node(), l)).pid);
}

void Call::enter(uint64_t number) {
  work_.call = number;
  work_.slot = static_cast<int>(number % slot_count);
  const Side& s = side();
  if (s.found.good()) {
    bind();
    backend_->before_entry(work_);
  }
  EntryLine& line = node().block(node().local_rank()).entry[work_.slot];
  line.status = s.found;
  line.fields = {group_.number(), arguments_.reduce ? arguments_.scale : 1.0, arguments_.op,
                 static_cast<int16_t>(arguments_.out_dtype), arguments_.reduce};
  line.generation = s.table.generation();
  line.freed = static_cast<uint32_t>(context_.process().memory.freed_epoch());
  line.memory = s.memory | (s.table.foreign() ? foreign_memory : 0);
  line.call.store(work_.call, std::memory_order_release);
  phase_ = Phase::lines;
}

bool Call::progress() {
  for (bool moved = false;; moved = true) {
    const Phase before = phase_;
    if (!step()) return moved;
    // A lane's slice gives way to other calls.
    if (phase_ == Phase::over || (before == Phase::lanes && phase_ == Phase::lanes)) return true;
  }
}

bool Call::step() {
  switch (phase_) {
    case Phase::lines:
      return see_lines();
    case Phase::records:
      return exchange_records();
    case Phase::outcome:
      return see_outcome();
    case Phase::lanes:
      return run_lanes();
    case Phase::exit:
      return see_exits();
    case Phase::end_records:
      return exchange_records();
    case Phase::end_outcome:
      return see_end();
    default:
      return false;
  }
}

bool Call::see_lines() {
  const Node& node = this->node();
  const Topology& t = context_.topology();
  for (int l = 0; l < node.size(); l++)
    if (node.block(l).entry[work_.slot].call.load(std::memory_order_acquire) < work_.call)
      return false;
  Side& s = side();
  const auto said_by = [&](int l) {
    const EntryLine& line = node.block(l).entry[work_.slot];
    EntryRecord record{line.status, line.fields};
    record.rank = t.comm_rank(t.rank(context_.node(), l));
    record.memory = line.memory;
    return record;
  };
  record_ = said_by(0);
  bool freed = false;
  for (int l = 0; l < node.size(); l++) {
    const EntryLine& line = node.block(l).entry[work_.slot];
    record_.fold(said_by(l));
    auto& seen = context_.freed_seen[static_cast<size_t>(l)];
    freed |= l != node.local_rank() && seen != line.freed;
    seen = line.freed;
  }
  Process& process = context_.process();
  if (freed) process.peers_freed = true;
  if (process.peers_freed && process.calls_moving == 0) {
    process.peers_freed = false;
    process.memory.drop_freed();
  }
  moving_ = true;
  process.calls_moving++;
  if (record_.status.good() &&
      record_.differs == INT32_MAX) {  // the tables are of one group and may be read
    bool changed = false;
    s.any_foreign = false;
    for (int l = 0; l < node.size(); l++) {
      const EntryLine& line = node.block(l).entry[work_.slot];
      changed |= s.table.read(l, line.generation);
      s.any_foreign |= (line.memory & foreign_memory) != 0;
    }
    if (changed || s.table.generation() != s.shared_generation) {
      s.partly_shared = s.table.partly_shared(s.partly_shared_local);
      if (group_.multicast() != MulticastMode::off) s.multicast = s.table.multicast();
      s.shared_generation = s.table.generation();
    }
    if (s.partly_shared >= 0)
      record_.status = {t.comm_rank(t.rank(context_.node(), s.partly_shared_local)),
                        static_cast<int16_t>(Kind::buffer), Fault::partly_shared,
                        static_cast<int32_t>(s.partly_shared)};
  }
  round_ = 0;
  record_sent_ = false;
  if (t.nodes() == 1)
    conclude();
  else if (context_.carrier())
    begin_rails();
  else
    phase_ = Phase::outcome;
  return true;
}

void Call::begin_rails() {
  group_.rail()->begin(work_.slot);
  if (Rail* rail = group_.device_rail()) rail->begin(work_.slot);
  phase_ = Phase::records;
}

// Dissemination: in round k hear from the node 2^k after mine and tell the one 2^k before.  Folding
// twice does no harm.
bool Call::exchange_records() {
  const Topology& t = context_.topology();
  const int M = t.nodes(), n = context_.node(), l = t.local(context_.rank()), step = 1 << round_;
  Rail& rail = *group_.rail();
  const bool entering = phase_ == Phase::records;
  if (step >= M) {
    if (entering) return conclude(), true;
    if (!rail.idle(work_.slot)) return false;
    return end(), true;
  }
  const int round = round_ + (entering ? 0 : Rail::first_end_round);
  const auto& rounds = group_.gather().plans->direct.eager;
  const EagerRound eager = entering && !arguments_.reduce && !rounds.empty()
                               ? rounds[static_cast<size_t>(round_)]
                               : EagerRound();
  char* stage = workspace_->at(l, work_.slot);
  if (!record_sent_) {
    rail.send_record(work_.slot, t.rank((n - step + M) % M, l), round, record_, stage, eager.send);
    record_sent_ = true;
  }
  EntryRecord heard;
  if (!rail.receive_record(work_.slot, t.rank((n + step) % M, l), round, heard, stage + eager.place,
                           eager.receive))
    return rail.progress(work_.slot), false;
  record_.fold(heard);
  round_++;
  record_sent_ = false;
  return true;
}

bool Call::see_outcome() {
  const Topology& t = context_.topology();
  const OutcomeLine& line = node().block(t.local(context_.rank()) % t.rails()).outcome[work_.slot];
  if (line.call.load(std::memory_order_acquire) < work_.call) return false;
  record_ = line.record;
  conclude();
  return true;
}

// All ranks have entered, and all know the same.
void Call::conclude() {
  const Topology& t = context_.topology();
  status_ = record_.status;
  if (status_.good() && record_.differs != INT32_MAX)
    status_ = {record_.differs, static_cast<int16_t>(Kind::mismatch), Fault::differs, -1};
  if (status_.good()) status_ = check_memory();
  if (t.nodes() > 1 && context_.carrier()) {
    OutcomeLine& line = node().block(t.local(context_.rank())).outcome[work_.slot];
    line.record = record_;
    line.call.store(work_.call, std::memory_order_release);
  }
  // Transfers of foreign memory can fail midway: then all nodes must hear how the call ended.
  tell_end_ = status_.good() && (record_.memory & foreign_memory) &&
              !(record_.memory & device_memory) && t.nodes() > 1;
  if (!status_.good()) return leave();
  choose_plan();
  phase_ = Phase::lanes;
}

// What this rank knows before it has heard of the others.
void Call::bind() {
  Side& s = side();
  const Collective& c = arguments_.reduce ? group_.reduce(arguments_.out_dtype) : group_.gather();
  const Node& node = this->node();
  begin_call(work_, c);
  for (int l = 0; l < node.size(); l++) {
    work_.addresses.param[static_cast<size_t>(l)] = s.table.of(l).data();
    work_.addresses.workspace[static_cast<size_t>(l)] = workspace_->at(l, work_.slot);
  }
  work_.addresses.shard_in = arguments_.reduce ? nullptr : s.inputs.data();
  work_.addresses.shard_out = arguments_.reduce ? s.outputs.data() : nullptr;
  const int op = arguments_.op & ~(MPIX_TIDE_ACCUMULATE | MPIX_TIDE_NULL_IS_ZERO);
  work_.arithmetic = {op == MPIX_TIDE_AVG, context_.topology().ranks(), arguments_.scale,
                      (arguments_.op & MPIX_TIDE_ACCUMULATE) != 0};
  work_.in_place = arguments_.in_place;
  work_.rail = group_.rail();
}

bool Call::run_lanes() {
  Rail* rail = context_.carrier() ? work_.rail : nullptr;
  bool through = work_.after_puts.empty();
  const bool moved = drive_lanes(*backend_, work_, through);
  if (rail) {
    rail->progress(work_.slot);
    through = through && work_.after_puts.empty() && rail->idle(work_.slot);
  }
  if (!inputs_read_) see_inputs();
  if (!through) return moved;
  if (work_.failed)
    status_ = {context_.comm_rank(), static_cast<int16_t>(Kind::peer), Fault::transfer, -1};
  leave();
  return true;
}

// In place the inputs are a part of the outputs: they are the user's again at the end.
void Call::see_inputs() {
  if (arguments_.in_place || !backend_->inputs_read(work_)) return;
  inputs_read_ = true;
  outcome_->tell_inputs_over();
}

void Call::leave() {
  fence();
  ExitLine& line = node().block(node().local_rank()).exit[work_.slot];
  line.status = status_;
  line.call.store(work_.call, std::memory_order_release);
  phase_ = Phase::exit;
}

bool Call::see_exits() {
  const Node& node = this->node();
  for (int l = 0; l < node.size(); l++)
    if (node.block(l).exit[work_.slot].call.load(std::memory_order_acquire) < work_.call)
      return false;
  if (work_.rail && !work_.rail->idle(work_.slot)) return false;
  for (int l = 0; l < node.size(); l++) status_.fold(node.block(l).exit[work_.slot].status);
  if (!tell_end_) return finish(), true;
  record_.status = status_;
  round_ = 0;
  record_sent_ = false;
  phase_ = context_.carrier() ? Phase::end_records : Phase::end_outcome;
  return true;
}

void Call::end() {
  status_ = record_.status;
  OutcomeLine& line = node().block(node().local_rank()).end[work_.slot];
  line.record.status = status_;
  line.call.store(work_.call, std::memory_order_release);
  finish();
}

bool Call::see_end() {
  const Topology& t = context_.topology();
  const OutcomeLine& line = node().block(t.local(context_.rank()) % t.rails()).end[work_.slot];
  if (line.call.load(std::memory_order_acquire) < work_.call) return false;
  status_ = line.record.status;
  finish();
  return true;
}

void Call::finish() {
  if (status_.good()) return complete();
  const std::string text = status_.fault == Fault::differs
                               ? difference(record_) + "; make the same call on all ranks"
                               : describe(status_, group_.param_name(status_.param),
                                          wanted_instead(group_, status_, record_.fields));
  fail(kind_of(status_), text);
}

void Call::fail(Kind kind, const std::string& message) {
  outcome_->kind = kind;
  outcome_->message = message;
  complete();
}

void Call::fail_unstarted(Outcome& outcome, Kind kind, const std::string& message) {
  outcome.kind = kind;
  outcome.message = message;
  tell(outcome);
}

void Call::complete() {
  phase_ = Phase::over;
  if (std::exchange(moving_, false)) context_.process().calls_moving--;
  held_.clear();
  multicasts_.clear();
  after_.reset();
  workspace_.reset();
  device_workspace_.reset();
  const std::shared_ptr<Outcome> outcome = std::move(outcome_);
  tell(*outcome);
}

void Call::tell(Outcome& outcome) {
  for (MPI_Request request : outcome.completes) MPI_Grequest_complete(request);
  outcome.completes.clear();
  if (outcome.gate && outcome.kind != Kind::none)
    group_.set_async_error({outcome.kind, "{}", outcome.message});
  if (outcome.enqueued) {
    release_by_stream();
    context_.end_stream_call();
  } else if (outcome.release_call) {
    release();
  }
  outcome.tell_over();
}

}  // namespace tide
