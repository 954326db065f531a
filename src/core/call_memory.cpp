// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Host memory or device memory: which backend carries a call out, and which plan.
#include "core/call.hpp"

namespace tide {

// Of this rank's own memory, in its user's thread: what a device needs is made here.
void Call::choose_memory() {
  Side& s = side();
  const bool device = s.found.good() && (s.memory & device_memory);
  backend_ = device ? &context_.device_backend(*workspace_) : &context_.backend();
  work_.bindings = &s.bindings;
}

// From what all ranks know, the same verdict everywhere.
Status Call::check_memory() const {
  constexpr uint32_t both = host_memory | device_memory, lost = foreign_memory | device_memory;
  if ((record_.memory & both) == both)
    return {record_.rank, static_cast<int16_t>(Kind::buffer), Fault::mixed_memory, -1};
  const Collective& c = arguments_.reduce ? group_.reduce(arguments_.out_dtype) : group_.gather();
  if ((record_.memory & lost) == lost && !c.plans->has_staged)
    return {record_.rank, static_cast<int16_t>(Kind::unsupported), Fault::unmapped_device, -1};
  return {};
}

// All ranks' memory is of one kind.  A rank that passed nothing but empty pieces goes with the
// others.
void Call::choose_plan() {
  Side& s = side();
  const bool device = (record_.memory & device_memory) != 0;
  if (device && !(s.memory & device_memory)) backend_ = &context_.device_backend(*workspace_);
  const Collective& c = arguments_.reduce ? group_.reduce(arguments_.out_dtype) : group_.gather();
  const bool staged = s.any_foreign && (device || group_.stages_host_memory());
  if (staged) work_.plan = &c.plans->staged;
  choose_rail(device);
  path_[arguments_.reduce] = device          ? (staged ? "cuda-staged" : "cuda-direct")
                             : staged        ? "host-staged"
                             : s.any_foreign ? "host-cma"
                                             : "host-direct";
}

// An all-gather that came with the entry lies in host memory.
void Call::choose_rail(bool device) {
  if (!device || !device_workspace_ || (eager_gather_ && !arguments_.reduce)) return;
  work_.rail = group_.device_rail();
  for (int l = 0; l < node().size(); l++)
    work_.addresses.workspace[static_cast<size_t>(l)] = device_workspace_->at(l, work_.slot);
}

}  // namespace tide
