// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/group.hpp"

#include <algorithm>

#include "core/call.hpp"
#include "core/fingerprint.hpp"
#include "core/launch.hpp"
#include "core/log.hpp"
#include "core/progress.hpp"
#include "core/replicas.hpp"

namespace tide {

bool may_sum_into(Dtype grad, Dtype out) {
  if (grad == Dtype::uint8) return false;
  if (out == grad) return true;
  if (out == Dtype::fp32) return grad == Dtype::bf16 || grad == Dtype::fp16;
  return out == Dtype::fp64 && grad == Dtype::fp32;
}

bool may_gather_as(Dtype shard, Dtype full) {
  if (shard == full) return true;
  const bool master = shard == Dtype::fp32 || shard == Dtype::fp64;
  return master && (full == Dtype::bf16 || full == Dtype::fp16 || full == Dtype::fp32);
}

std::shared_ptr<Group> Group::create(MPI_Comm comm, std::vector<Param> params,
                                     const int64_t* first_row, MPI_Info info,
                                     const std::optional<Error>& fault, SetupCall call) {
  std::shared_ptr<Group> group(new Group);
  std::optional<Error> wrong = fault;
  double limit_s = default_limit_s();
  try {
    group->settings_ = Settings::read(info, Setting::group);
    limit_s = group->settings_.seconds("tide_timeout");
  } catch (const Error& e) {
    if (!wrong) wrong = e;
  }
  group->context_ = Context::of(comm, limit_s);
  Context& context = *group->context_;
  const Context::Setup setup(context, limit_s, call);
  const int ranks = context.topology().ranks();
  std::optional<Fingerprint> description;
  context.together([&] {
    if (wrong) throw *wrong;
    group->params_ = std::move(params);
    description.emplace(group->params_, first_row != nullptr, first_row, ranks, group->settings_);
  });
  description->compare(context);
  group->multicast_ = agree_on_multicast(context, group->settings_, group->why_no_multicast_);
  group->rail_ = context.rail(group->settings_, group->why_not_better_rail_);
  group->number_ = context.next_group();
  group->limit_s_ = limit_s;
  group->checks_ = group->settings_.text("TIDE_CHECK") == "1";
  context.together([&] {
    context.want_device(group->settings_.text("tide_device"));
    group->cut_rows(first_row);
    group->plan_all();
  });
  size_t need = 0;
  const auto widen = [&](const Collective& c) {
    need = std::max(
        {need, workspace_bytes(c.plans->direct.need), workspace_bytes(c.plans->staged.need)});
  };
  widen(group->gather_);
  for (const auto& c : group->reduces_)
    if (c) widen(*c);
  context.reserve(need);
  group->device_rail_ =
      context.device_rail(group->settings_, need, group->rail_, group->why_no_device_rail_);
  if (group->device_rail_ && group->multicast_ == MulticastMode::nvlink &&
      !context.why_no_switch().empty()) {
    if (group->settings_.text("tide_multicast") == "on")
      throw Error(Kind::unsupported, "tide_multicast = on: {}; use auto, off or emulate",
                  context.why_no_switch());
    group->why_no_multicast_ = "switch sums: " + context.why_no_switch();
  }
  const auto tables = AddressTable::share_tables(context, 2 * group->params_.size());
  context.together([&] {
    group->call_ = std::make_unique<Call>(*group, tables);
    if (group->settings_.text("tide_progress") == "thread") group->need_thread();
  });
  if (logs(Level::info) && context.comm_rank() == 0)
    log(Level::info,
        fmt::format("group {}: {} parameters, {} bytes, {} ranks on {} nodes", group->number_,
                    group->params_.size(), group->full_bytes(), ranks, context.topology().nodes()));
  return group;
}

Group::Group() : replicas_(std::make_unique<Replicas>()) {}
Group::~Group() = default;

void Group::need_thread() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (rail_ && level < MPI_THREAD_MULTIPLE)
    throw Error(Kind::unsupported,
                "tide_progress = thread, and stream-ordered calls: between nodes the progress "
                "thread calls MPI, which was not initialised with MPI_THREAD_MULTIPLE; do that, or "
                "use poll and calls without a stream");
  const bool started = context_->process().progress().start_thread(level == MPI_THREAD_MULTIPLE);
  // A launcher binds all ranks alike: one line in place of thousands.
  if (started && context_->comm_rank() == 0) check_binding(0);
}

void Group::set_async_error(const Error& error) {
  if (const auto user = errors_to_.lock()) return user->set_async_error(error);
  log(Level::error, fmt::format("rank {}: group {}, stream-ordered call: {}", context_->comm_rank(),
                                number_, error.what()));
  const std::lock_guard lock(async_mutex_);
  if (!async_error_) async_error_ = error;
}

std::optional<Error> Group::async_error() const {
  const std::lock_guard lock(async_mutex_);
  return async_error_;
}

void Group::cut_rows(const int64_t* first_row) {
  const int ranks = context_->topology().ranks();
  std::vector<Shape> shapes;
  for (const Param& p : params_) shapes.push_back(p.shape);
  const size_t bounds = shapes.size() * (static_cast<size_t>(ranks) + 1);
  rows_ = first_row ? Rows::ragged(ranks, shapes, {first_row, first_row + bounds})
                    : Rows::chunk(ranks, shapes);
}

// Everything that group_sizes states is known here, before any storage exists.
void Group::plan_all() {
  const Topology& t = context_->topology();
  const std::string foreign = settings_.text("tide_foreign");
  if (foreign == "cma" && !context_->remote_memory())
    throw Error(Kind::unsupported,
                "tide_foreign = cma: process_vm_readv between the ranks of a node is not permitted "
                "here; use auto or staged");
  stages_host_memory_ = foreign == "staged" || !context_->remote_memory();
  staged_foreign_ = t.largest() > 1 && (stages_host_memory_ || context_->any_gpu_in_use());
  options_.chunk_bytes = settings_.bytes("tide_chunk_bytes");
  options_.eager_bytes = settings_.bytes("tide_eager_bytes");
  options_.rank_order = settings_.text("tide_order") == "rank";
  const size_t bound = settings_.bytes("tide_workspace_bytes");
  options_.workspace_bytes = bound ? std::max<size_t>(1, bound / slot_count) : 0;
  gather_ = plan_gather();
  plan_reduces();
}

// A switch adds what has landed in device memory, so only what NCCL brings.
Limits Group::limits() const {
  Limits limits;
  limits.switch_sum = switch_adds() && (multicast_ == MulticastMode::emulated ||
                                        settings_.text("tide_rail") == "nccl");
  return limits;
}

Collective Group::plan_gather() const {
  const Topology& t = context_->topology();
  auto plans = std::make_shared<Plans>(gather_packing(t, rows_, params_));
  Limits limits = this->limits();
  plans->direct = plan_allgather(t, plans->layout, limits, options_, context_->rank());
  limits.peer_stores = limits.peer_loads = false;
  plans->has_staged = staged_foreign_;
  if (staged_foreign_)
    plans->staged = plan_allgather(t, plans->layout, limits, options_, context_->rank());
  return {gather_types(params_), std::move(plans)};
}

bool Group::can_reduce(int out_dtype) const {
  return std::all_of(params_.begin(), params_.end(), [&](const Param& p) {
    return p.frozen || may_sum_into(p.grad, p.shard_or(out_dtype));
  });
}

// A plan depends on the accumulation types alone, so most output types share one.
void Group::plan_reduces() {
  const Topology& t = context_->topology();
  std::vector<std::shared_ptr<Plans>> distinct;
  for (int out = 0; out < static_cast<int>(reduces_.size()); out++) {
    if (!can_reduce(out)) continue;
    Types types = reduce_types(params_, out);
    std::shared_ptr<const Plans> plans;
    for (const auto& known : reduces_)
      if (known && known->types.acc == types.acc) plans = known->plans;
    if (!plans)
      plans = distinct.emplace_back(
          std::make_shared<Plans>(reduce_packing(t, rows_, params_, types, options_)));
    reduces_[static_cast<size_t>(out)] = Collective{std::move(types), std::move(plans)};
  }
  for (const auto& plans : distinct)
    reduce_min_ = std::max(reduce_min_, reduce_scatter_workspace_min(t, plans->layout, plans->raw,
                                                                     limits(), options_));
  if (options_.workspace_bytes && options_.workspace_bytes < reduce_min_)
    throw Error(
        Kind::arg,
        "tide_workspace_bytes = {} is too small for this list; the smallest that works is {}",
        settings_.bytes("tide_workspace_bytes"), reduce_min_ * slot_count);
  for (const auto& plans : distinct) {
    Limits limits = this->limits();
    plans->direct =
        plan_reduce_scatter(t, plans->layout, plans->raw, limits, options_, context_->rank());
    const auto& sums = plans->direct.lanes[static_cast<size_t>(Lane::sum)];
    plans->switched = std::any_of(sums.begin(), sums.end(), [](const Op& op) {
      return std::holds_alternative<SwitchSum>(op);
    });
    limits.peer_stores = limits.peer_loads = false;
    // A bound is for everything: where only foreign device memory would be staged, it is not.
    plans->has_staged = staged_foreign_ && (stages_host_memory_ || !options_.workspace_bytes);
    if (plans->has_staged)
      plans->staged =
          plan_reduce_scatter(t, plans->layout, plans->raw, limits, options_, context_->rank());
  }
}

Workspaces Group::workspaces() const {
  return {context_->workspaces(), device_rail_ ? context_->device_workspaces() : nullptr};
}

std::string Group::param_name(int64_t p) const {
  if (p < 0 || static_cast<size_t>(p) >= names_.size()) return "";
  return prefix_ + names_[static_cast<size_t>(p)];
}

void Group::set_names(const std::string& prefix, const std::vector<std::string>& names) {
  prefix_ = prefix;
  names_ = names;
}

size_t Group::full_bytes() const {
  size_t bytes = 0;
  for (const Param& p : params_) bytes += static_cast<size_t>(p.elems()) * bytes_of(p.full);
  return bytes;
}

size_t Group::shard_bytes() const {
  size_t bytes = 0;
  for (size_t p = 0; p < params_.size(); p++)
    bytes += static_cast<size_t>(rows_of(static_cast<int>(p), context_->comm_rank()) *
                                 params_[p].shape.row_elems) *
             bytes_of(params_[p].shard);
  return bytes;
}

size_t Group::gather_workspace_bytes() const {
  return slot_count *
         std::max(gather_.plans->direct.need.total(), gather_.plans->staged.need.total());
}

// Of a rank with a rail; one without needs none, but the number is to be the same everywhere.
size_t Group::reduce_workspace_bytes() const {
  size_t bytes = 0;
  for (const auto& c : reduces_)
    if (c)
      bytes = std::max({bytes, c->plans->direct.places.total(), c->plans->staged.places.total()});
  return slot_count * bytes;
}

size_t Group::reduce_workspace_min_bytes() const { return slot_count * reduce_min_; }

}  // namespace tide
