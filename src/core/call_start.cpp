// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What happens before a call enters, in its user's thread or, behind a stream, in the one that
// drives.
#include <cmath>

#include "core/call.hpp"
#include "core/log.hpp"
#include "mpix_tide.h"

namespace tide {

void Call::take() {
  if (!taken_.exchange(true)) return;
  throw Error(Kind::request,
              "group {}: another operation of the group is active (a request, or a call on another "
              "thread); one at a time per group: complete it first",
              group_.number());
}

void Call::take_for_stream() {
  if (in_streams_ == 0) take();
  in_streams_++;
}
bool Call::try_take_for_stream() {
  if (in_streams_ == 0 && taken_.exchange(true)) return false;
  in_streams_++;
  return true;
}
void Call::release_by_stream() {
  if (--in_streams_ == 0) release();
}

void Call::start(const Arguments& arguments, std::shared_ptr<Outcome> outcome, bool hold,
                 std::shared_ptr<const Outcome> after, Workspaces workspaces) {
  outcome_ = std::move(outcome);
  after_ = std::move(after);
  if (!outcome_->enqueued) outcome_->begin();
  arguments_ = arguments;
  hold_ = hold;
  inputs_read_ = false;
  status_ = {};
  workspace_ = std::move(workspaces.host);
  device_workspace_ = std::move(workspaces.device);
  calls_[arguments.reduce]++;
  try {
    check(arguments);
    if (hold_) hold_memory();
    choose_memory();
  } catch (const std::exception& e) {  // still enters: the others must hear of it
    log(Level::error, fmt::format("rank {}: {}", context_.comm_rank(), e.what()));
    const auto* error = dynamic_cast<const Error*>(&e);
    const bool device =
        error && (error->kind() == Kind::device || error->kind() == Kind::unsupported);
    side().found = {context_.comm_rank(),
                    static_cast<int16_t>(device ? error->kind() : Kind::no_mem),
                    device ? Fault::no_device : Fault::no_memory, -1};
    side().key = -1;
  }
  phase_ = Phase::queued;
}

// Checks the arguments, or knows that they are those of the last call.
void Call::check(const Arguments& a) {
  Side& s = side();
  const size_t count = group_.params().size();
  const int64_t key =
      static_cast<int64_t>(a.out_dtype) << 16 | (a.op & MPIX_TIDE_NULL_IS_ZERO) | a.in_place;
  const uint64_t epoch = context_.process().memory.epoch();
  const bool lists = count == 0 || (a.outputs && (a.in_place || a.inputs));
  const int op = a.op & ~(MPIX_TIDE_ACCUMULATE | MPIX_TIDE_NULL_IS_ZERO);
  const bool plain =
      !a.reduce || ((op == MPIX_TIDE_SUM || op == MPIX_TIDE_AVG) && std::isfinite(a.scale));
  constexpr uint64_t anew_every = 64;  // calls, under TIDE_CHECK: a system call per buffer
  const bool check_anew = group_.checks() && calls_[a.reduce] % anew_every == 0;
  const bool known = plain && a.wrong.good() && !check_anew && s.key == key && s.epoch == epoch &&
                     s.found.good() && lists &&
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
                 static_cast<int32_t>(s.table.shared_entry())};
  }
}

void Call::hold_memory() {
  const MemoryRegistry& memory = context_.process().memory;
  const Side& s = side();
  std::vector<SegmentId> ids;
  const auto add = [&](const void* at) {
    const auto found = at ? memory.find(at, 0) : std::nullopt;
    if (found && (ids.empty() || ids.back() != found->segment)) ids.push_back(found->segment);
  };
  if (!s.found.good()) return;
  for (const void* at : s.inputs) add(at);
  for (const void* at : s.outputs) add(at);
  held_ = memory.hold(ids);
}

bool Call::waits() const {
  if (!after_) return false;
  const auto& reached = arguments_.needs_success ? after_->over : after_->inputs_over;
  return !reached.load(std::memory_order_acquire);
}

bool Call::fail_with_last() {
  const std::shared_ptr<const Outcome> last = std::move(after_);
  if (!last || !arguments_.needs_success || last->kind == Kind::none) return false;
  fail(last->kind, last->message);
  return true;
}

}  // namespace tide
