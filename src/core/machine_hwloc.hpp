// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Inside the reading of a machine by hwloc: the only files that see hwloc's types.
#pragma once
#include <hwloc.h>

#include <map>

#include "core/machine.hpp"

#if HWLOC_API_VERSION < 0x00020500 || HWLOC_API_VERSION >= 0x00030000
#error "Tide needs hwloc 2, 2.5 or newer: configure with -DTIDE_WITH_HWLOC=OFF"
#endif

namespace tide {

// The places of the tree's bridges, made as devices ask for them.
using BridgePlaces = std::map<hwloc_obj_t, int>;
int place_of_parent(Machine& machine, BridgePlaces& bridges, hwloc_obj_t object);

void add_devices(Machine& machine, hwloc_topology_t topology);  // its places are there

}  // namespace tide
