// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a seed asks the ranks to do: a node map, communicators, groups and a sequence of calls.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "list.hpp"

namespace simulator {

enum class Over { world, duplicate, reversed, halves };  // the communicator of a group

struct GroupCase {
  Over over = Over::world;
  std::vector<MPIX_Tide_param> params;
  uint64_t ragged = 0;  // seed of an explicit layout; 0: the default one
  std::vector<std::pair<std::string, std::string>> info;
  bool least_workspace = false;  // made again with the smallest tide_workspace_bytes
};

struct Step {
  size_t group = 0;
  bool reduce = false;
  tide_test::GatherOptions gather;
  tide_test::ReduceOptions sums;
};

struct Case {
  std::vector<int> nodes;  // node number of each rank
  std::vector<GroupCase> groups;
  std::vector<Step> steps;
  int ranks() const { return static_cast<int>(nodes.size()); }
  std::string fake_nodes() const;
  std::string text() const;
};

Case random_case(uint64_t seed);
// Every rank of one communicator in one list, both ways: for sweeps over node maps.
Case plain_case(std::vector<int> nodes, uint64_t seed);
std::vector<int> random_nodes(uint64_t seed, int ranks);
// The ranks of each node, in the order of the nodes' first ranks: sums are made in this order.
std::vector<std::vector<int>> ranks_by_node(const std::vector<int>& nodes);
// A layout that gives ranks any share: params x (ranks + 1).
std::vector<MPI_Count> ragged_rows(const std::vector<MPIX_Tide_param>& params, int ranks,
                                   uint64_t seed);

}  // namespace simulator
