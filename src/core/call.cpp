// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/call.hpp"

#include <sched.h>

#include <bit>
#include <cmath>

#include "core/fingerprint.hpp"
#include "mpix_tide.h"

namespace tide {
namespace {

constexpr size_t stream_bytes = size_t{8}
                                << 20;  // outputs at least this large are stored around the cache
constexpr int spins = 400, unused_tag = 32000;

std::vector<size_t> sizes(const std::vector<Param>& params, bool reduce) {
  std::vector<size_t> bytes;
  for (const Param& p : params)
    bytes.push_back(reduce && p.frozen
                        ? 0
                        : static_cast<size_t>(p.elems()) * bytes_of(reduce ? p.grad : p.full));
  return bytes;
}

// Spin briefly, then give the core away and enter MPI, so that a peer that is blocked in MPI gets
// on.  The probe is for a tag that nobody sends: one that finds a message returns at once, without
// progress for the others.
void relax(MPI_Comm comm, int idle) {
  if (idle < spins) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    return;
  }
  int flag = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, unused_tag, comm, &flag, MPI_STATUS_IGNORE);
  sched_yield();
}

}  // namespace

Side::Side(Context& context, const std::vector<Param>& params, bool reduce)
    : table(context, params.size()),
      full_bytes(sizes(params, reduce)),
      inputs(params.size()),
      outputs(params.size()) {}

Call::Call(Group& group)
    : group_(group),
      context_(group.context()),
      sides_{Side(context_, group.params(), false), Side(context_, group.params(), true)} {
  const Topology& t = context_.topology();
  const int locals = t.size(context_.node());
  work_.topology = &t;
  work_.rank = context_.rank();
  work_.inflight_bytes = group.settings().bytes("tide_rail_inflight_bytes");
  work_.sent.resize(static_cast<size_t>(locals) * index_count);
  work_.addresses.param.resize(static_cast<size_t>(locals));
  work_.addresses.workspace.resize(static_cast<size_t>(locals));
  for (int l = 0; l < locals; l++)
    work_.addresses.pid.push_back(context_.peer(t.rank(context_.node(), l)).pid);
}

void Call::run(const Arguments& arguments) {
  if (busy_.exchange(true))
    throw Error(Kind::request,
                "the group is in another call on another thread; one call at a time per group");
  const std::lock_guard lock(context_.mutex);
  struct Reset {
    std::atomic<bool>& flag;
    ~Reset() { flag = false; }
  } reset{busy_};
  start(arguments);
  for (int idle = 0; phase_ != Phase::over;) {
    if (progress())
      idle = 0;
    else
      relax(context_.comm(), idle++);
  }
  if (!status_.good())
    throw Error(static_cast<Kind>(status_.kind),
                describe(status_, group_.param_name(status_.param)));
}

void Call::start(const Arguments& arguments) {
  arguments_ = arguments;
  work_.call = context_.next_call();
  work_.slot = static_cast<int>(work_.call % slot_count);
  calls_[arguments.reduce]++;
  publish(arguments);
  phase_ = Phase::lines;
}

// Checks the arguments (or knows that they are those of the last call) and tells the node.
void Call::publish(const Arguments& a) {
  Side& s = side();
  const size_t count = group_.params().size();
  const int key = (a.op & MPIX_TIDE_NULL_IS_ZERO) | a.out_dtype << 1 | a.in_place;
  const uint64_t epoch = Process::get().memory.epoch();
  const bool lists = count == 0 || (a.outputs && (a.in_place || a.inputs));
  const int op = a.op & ~(MPIX_TIDE_ACCUMULATE | MPIX_TIDE_NULL_IS_ZERO);
  const bool plain =
      !a.reduce || ((op == MPIX_TIDE_SUM || op == MPIX_TIDE_AVG) && !std::isnan(a.scale));
  const bool known = plain && s.key == key && s.epoch == epoch && s.found.good() && lists &&
                     (a.in_place || std::equal(s.inputs.begin(), s.inputs.end(), a.inputs)) &&
                     std::equal(s.outputs.begin(), s.outputs.end(), a.outputs);
  if (!known) {
    s.found = check_arguments(group_, s, a);
    s.epoch = epoch;
    s.key = key;
    if (s.found.good() && count) {
      if (a.in_place)
        s.inputs.assign(count, nullptr);
      else
        s.inputs.assign(a.inputs, a.inputs + count);
      s.outputs.assign(a.outputs, a.outputs + count);
    }
  }
  if (s.found.good() && count) {
    s.table.publish(a.reduce ? s.inputs.data() : const_cast<const void* const*>(s.outputs.data()),
                    s.full_bytes);
    if (a.reduce && s.table.shared_entry() >= 0)
      s.found = {context_.comm_rank(), static_cast<int16_t>(Kind::buffer), Fault::shared_gradient,
                 s.table.shared_entry()};
  }
  const uint64_t words[] = {group_.number(), a.reduce, static_cast<uint64_t>(a.op),
                            static_cast<uint64_t>(a.out_dtype),
                            std::bit_cast<uint64_t>(a.reduce ? a.scale : 1.0)};
  const Node& node = context_.node_lines();
  EntryLine& line = node.block(node.local_rank()).entry[work_.slot];
  line.status = s.found;
  line.hash = hash_words(words, std::size(words));
  line.generation = s.table.generation();
  line.freed = Process::get().memory.freed_epoch();
  line.foreign = s.table.foreign();
  line.call.store(work_.call, std::memory_order_release);
}

bool Call::progress() {
  switch (phase_) {
    case Phase::over:
      return false;
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
  }
  return false;
}

bool Call::see_lines() {
  const Node& node = context_.node_lines();
  const Topology& t = context_.topology();
  for (int l = 0; l < node.size(); l++)
    if (node.block(l).entry[work_.slot].call.load(std::memory_order_acquire) < work_.call)
      return false;
  Side& s = side();
  record_ = {work_.call,
             {},
             node.block(0).entry[work_.slot].hash,
             t.comm_rank(t.rank(context_.node(), 0)),
             INT32_MAX};
  bool freed = false;
  for (int l = 0; l < node.size(); l++) {
    const EntryLine& line = node.block(l).entry[work_.slot];
    record_.fold(
        {work_.call, line.status, line.hash, t.comm_rank(t.rank(context_.node(), l)), INT32_MAX});
    auto& seen = context_.freed_seen[static_cast<size_t>(l)];
    freed |= l != node.local_rank() && seen != line.freed;
    seen = line.freed;
  }
  if (freed) Process::get().memory.drop_freed();
  if (record_.status.good() &&
      record_.differs == INT32_MAX) {  // the tables are of one group and may be read
    bool changed = false;
    s.any_foreign = false;
    for (int l = 0; l < node.size(); l++) {
      const EntryLine& line = node.block(l).entry[work_.slot];
      changed |= s.table.read(l, line.generation);
      s.any_foreign |= line.foreign != 0;
    }
    if (changed || s.table.generation() != s.shared_generation) {
      s.partly_shared = s.table.partly_shared(s.partly_shared_local);
      s.shared_generation = s.table.generation();
    }
    if (s.partly_shared >= 0)
      record_.status = {t.comm_rank(t.rank(context_.node(), s.partly_shared_local)),
                        static_cast<int16_t>(Kind::buffer), Fault::partly_shared, s.partly_shared};
  }
  round_ = 0;
  record_sent_ = false;
  if (t.nodes() == 1)
    conclude();
  else if (t.local(context_.rank()) < t.rails())
    context_.rail()->begin(work_.slot), phase_ = Phase::records;
  else
    phase_ = Phase::outcome;
  return true;
}

// Dissemination: in round k hear from the node 2^k after mine and tell the one 2^k before.  Folding
// twice does no harm.
bool Call::exchange_records() {
  const Topology& t = context_.topology();
  const int M = t.nodes(), n = context_.node(), l = t.local(context_.rank()), step = 1 << round_;
  if (step >= M) return conclude(), true;
  Rail& rail = *context_.rail();
  if (!record_sent_) {
    EntryRecord& mine = sent_[static_cast<size_t>(work_.slot)][static_cast<size_t>(round_)];
    mine = record_;
    rail.send_record(work_.slot, t.rank((n - step + M) % M, l), round_, mine);
    record_sent_ = true;
  }
  EntryRecord heard;
  if (!rail.receive_record(work_.slot, t.rank((n + step) % M, l), round_, heard))
    return rail.progress(work_.slot), false;
  record_.fold(heard);
  round_++;
  record_sent_ = false;
  return true;
}

bool Call::see_outcome() {
  const Topology& t = context_.topology();
  const OutcomeLine& line =
      context_.node_lines().block(t.local(context_.rank()) % t.rails()).outcome[work_.slot];
  if (line.call.load(std::memory_order_acquire) < work_.call) return false;
  record_.status = line.status;
  record_.differs = INT32_MAX;
  conclude();
  return true;
}

// All ranks have entered, and all know the same.
void Call::conclude() {
  const Topology& t = context_.topology();
  status_ = record_.status;
  if (status_.good() && record_.differs != INT32_MAX)
    status_ = {record_.differs, static_cast<int16_t>(Kind::mismatch), Fault::differs, -1};
  if (t.nodes() > 1 && t.local(context_.rank()) < t.rails()) {
    OutcomeLine& line = context_.node_lines().block(t.local(context_.rank())).outcome[work_.slot];
    line.status = status_;
    line.call.store(work_.call, std::memory_order_release);
  }
  if (!status_.good()) return leave();
  bind();
  phase_ = Phase::lanes;
}

void Call::bind() {
  Side& s = side();
  const Collective& c = arguments_.reduce ? group_.reduce(arguments_.out_dtype) : group_.gather();
  const bool staged = s.any_foreign && c.has_staged;
  const Node& node = context_.node_lines();
  work_.plan = staged ? &c.staged : &c.direct;
  work_.layout = &*c.layout;
  work_.types = &c.types;
  for (int l = 0; l < node.size(); l++) {
    work_.addresses.param[static_cast<size_t>(l)] = s.table.of(l).data();
    work_.addresses.workspace[static_cast<size_t>(l)] = context_.workspace(l, work_.slot);
  }
  work_.addresses.shard_in = arguments_.reduce ? nullptr : s.inputs.data();
  work_.addresses.shard_out = arguments_.reduce ? s.outputs.data() : nullptr;
  const int op = arguments_.op & ~(MPIX_TIDE_ACCUMULATE | MPIX_TIDE_NULL_IS_ZERO);
  work_.arithmetic = {op == MPIX_TIDE_AVG, context_.topology().ranks(), arguments_.scale,
                      (arguments_.op & MPIX_TIDE_ACCUMULATE) != 0};
  work_.in_place = arguments_.in_place;
  work_.stream = (arguments_.reduce ? c.layout->packed_bytes(context_.rank())
                                    : c.layout->total_bytes()) >= stream_bytes;
  work_.lanes = {};
  work_.puts = 0;
  work_.failed = false;
  std::fill(work_.sent.begin(), work_.sent.end(), 0);
  path_[arguments_.reduce] = staged ? "host-staged" : s.any_foreign ? "host-cma" : "host-direct";
}

bool Call::run_lanes() {
  Rail* rail = context_.topology().nodes() > 1 &&
                       context_.topology().local(context_.rank()) < context_.topology().rails()
                   ? context_.rail()
                   : nullptr;
  bool moved = false, through = work_.after_puts.empty();
  for (Lane lane : {Lane::rail, Lane::sum, Lane::copy}) {
    moved |= context_.backend().advance(work_, lane);
    through &= work_.lanes[static_cast<size_t>(lane)].op ==
               work_.plan->lanes[static_cast<size_t>(lane)].size();
  }
  if (rail) {
    rail->progress(work_.slot);
    through = through && work_.after_puts.empty() && rail->idle(work_.slot);
  }
  if (!through) return moved;
  if (work_.failed)
    status_ = {context_.comm_rank(), static_cast<int16_t>(Kind::peer), Fault::transfer, -1};
  leave();
  return true;
}

void Call::leave() {
  fence();
  ExitLine& line = context_.node_lines().block(context_.node_lines().local_rank()).exit[work_.slot];
  line.status = status_;
  line.call.store(work_.call, std::memory_order_release);
  phase_ = Phase::exit;
}

bool Call::see_exits() {
  const Node& node = context_.node_lines();
  for (int l = 0; l < node.size(); l++)
    if (node.block(l).exit[work_.slot].call.load(std::memory_order_acquire) < work_.call)
      return false;
  if (context_.rail() && !context_.rail()->idle(work_.slot)) return false;
  for (int l = 0; l < node.size(); l++) status_.fold(node.block(l).exit[work_.slot].status);
  phase_ = Phase::over;
  return true;
}

}  // namespace tide
