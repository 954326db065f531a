// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// tide_multicast: whether a group's copies and sums may go through multicast addresses, and how
// memory gets one.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backend/multicast.hpp"
#include "core/memory.hpp"

namespace tide {

class Context;
class Settings;

enum class MulticastMode : int32_t { off, emulated, nvlink };

// What NVLink multicast lacks on this rank: the build, the permission, a device, or one that can;
// empty: nothing.
std::string why_no_multicast(Context& context, const Settings& settings);
// Collective, the same on all ranks.  why_not: of tide_multicast = auto.  Error{unsupported} where
// it is on and cannot be.
MulticastMode agree_on_multicast(Context& context, const Settings& settings, std::string& why_not);
// Collective over the communicator: a multicast address of this node's ranks' memory, of as many
// bytes as the smallest has; null where `wanted` is false (the same on all ranks of a node) or
// why_not says, on all ranks alike, what failed.
std::shared_ptr<const Multicast> make_multicast(Context& context, MulticastMode mode, bool wanted,
                                                const std::vector<std::shared_ptr<Segment>>& parts,
                                                std::string& why_not);

}  // namespace tide
