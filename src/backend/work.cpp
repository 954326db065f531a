// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/backend.hpp"

namespace tide {

void place(Work& work, const Topology& topology, int rank) {
  const auto locals = static_cast<size_t>(topology.size(topology.node(rank)));
  work.topology = &topology;
  work.rank = rank;
  work.sent.resize(locals * index_count);
  work.addresses.param.resize(locals);
  work.addresses.workspace.resize(locals);
}

bool drive_lanes(Backend& backend, Work& work, bool& through) {
  bool moved = false;
  for (Lane lane : {Lane::rail, Lane::sum, Lane::copy}) {
    moved |= backend.advance(work, lane);
    through &= work.lanes[static_cast<size_t>(lane)].op ==
                   work.plan->lanes[static_cast<size_t>(lane)].size() &&
               backend.settled(work, lane);
  }
  return moved;
}

}  // namespace tide
