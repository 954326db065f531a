// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Host memory or device memory: which backend carries a call out, and which plan.
#include <algorithm>

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
  if ((record_.memory & host_memory) && group_.multicast() == MulticastMode::nvlink &&
      group_.settings().text("tide_multicast") == "on")
    return {record_.rank, static_cast<int16_t>(Kind::unsupported), Fault::multicast_of_host, -1};
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
  const bool multicast = choose_multicast(device) && !staged;
  path_[arguments_.reduce] = multicast       ? (device ? "cuda-multicast" : "host-multicast")
                             : device        ? (staged ? "cuda-staged" : "cuda-direct")
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

// What of this call's memory has multicast addresses; false: nothing that it uses.
bool Call::choose_multicast(bool device) {
  const MulticastMode mode = group_.multicast();
  if (mode == MulticastMode::off) return false;
  Addresses& at = work_.addresses;
  at.multicast.clear();
  at.workspace_multicast = {};
  multicasts_.clear();
  work_.switch_adds = arguments_.reduce && group_.switch_adds();
  const auto use = [&](std::shared_ptr<const Multicast> of, size_t offset) -> MulticastPlace {
    if (!of || of->emulated != (mode == MulticastMode::emulated)) return {};
    if (multicasts_.empty() || multicasts_.back() != of) multicasts_.push_back(std::move(of));
    return {multicasts_.back().get(), offset};
  };
  if (!arguments_.reduce || work_.switch_adds)
    for (const auto& place : side().multicast)
      at.multicast.push_back(use(place.of.lock(), place.offset));
  bool any = std::any_of(at.multicast.begin(), at.multicast.end(), [](auto& p) { return p.of; });
  if (work_.switch_adds && group_.reduce(arguments_.out_dtype).plans->switched) {
    const WorkspaceSet& set = device && work_.rail == group_.device_rail() && device_workspace_
                                  ? *device_workspace_
                                  : *workspace_;
    at.workspace_multicast = use(set.multicast_of(work_.slot, mode), 0);
    any |= at.workspace_multicast.of != nullptr;
  }
  return any;
}

std::shared_ptr<const Multicast> WorkspaceSet::part(const Multicast& whole, int slot) const {
  auto made = std::make_shared<Multicast>(whole);
  made->bytes = bytes(0);  // as every rank's
  made->address += static_cast<size_t>(slot) * made->bytes;
  for (char*& member : made->member) member += static_cast<size_t>(slot) * made->bytes;
  return made;
}

// The emulated one is made here: it asks nobody else.
std::shared_ptr<const Multicast> WorkspaceSet::multicast_of(int slot, MulticastMode mode) const {
  auto& known = multicast[static_cast<size_t>(slot)];
  if (known || mode != MulticastMode::emulated) return known;
  std::vector<char*> member;
  std::vector<uint64_t> segment;
  size_t least = SIZE_MAX;
  for (size_t l = 0; l < of.size(); l++) {
    if (!of[l]) return nullptr;
    member.push_back(at(static_cast<int>(l), slot));
    segment.push_back(of[l]->id());
    least = std::min(least, bytes(static_cast<int>(l)));
  }
  if (member.size() > 1 && least > 0) known = emulated_multicast(member, segment, least);
  return known;
}

}  // namespace tide
