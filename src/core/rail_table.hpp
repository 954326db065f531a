// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Which NIC carries which rail of a node.  A rail has one carrier on each node, the rank with the
// rail's number as its local rank.
//
// Each carrier takes the NIC with which it has the deepest place in common: behind the PCIe switch
// of its GPU, else at the same PCIe root, NUMA node, package, machine.  Of several equally near
// ones it takes the one with the fewest carriers so far; carriers with the smaller choice go first.
// As choices are subtrees they lie inside each other or apart, so this order makes two carriers
// share a NIC only where there are fewer near NICs than carriers.  Equal inputs give equal tables,
// in whatever order the NICs are listed.
#pragma once
#include <string>
#include <vector>

#include "core/machine.hpp"
#include "core/rail_devices.hpp"

namespace tide {

struct RailRow {  // by rail, which is the local rank
  std::vector<std::string> devices;
  std::string reason;  // "nearest to GPU 3 (same PCIe switch)"
};
struct RailTable {
  std::vector<RailRow> rows;  // empty: the transport chooses
  std::string why_empty;
};

// Local and pure: every rank of a node computes the same.  carriers: where they are, by local rank.
// devices: the text of tide_rail_devices, which wins over everything; empty: none.
// devices_per_rail: of the nearest ones, at least 1; a node may have fewer.  Error{arg}: a text
// that is no list of devices.
RailTable rail_table_of_node(const Machine& machine, const std::vector<Location>& carriers,
                             const std::string& devices, int devices_per_rail = 1);

constexpr int most_nodes = 65536;
// Error{unsupported} where a rail would join more nodes than the rounds of an entry reach.
void check_node_count(int nodes);

// For each NIC why it is no rail's while others are, or an empty text: it is down, or another is
// better: has verbs or is Slingshot, has a link five times as fast, is beside a GPU of its package.
std::vector<std::string> why_no_rail(const Machine& machine);

}  // namespace tide
