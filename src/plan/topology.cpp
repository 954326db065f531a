// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "plan/topology.hpp"

#include <unordered_map>

namespace tide {

Topology::Topology(const std::vector<int>& node_of) {
  const int ranks = static_cast<int>(node_of.size());
  std::unordered_map<int, int> number;  // node name -> node, in the order of first ranks
  std::vector<std::vector<int>> members;
  for (int r = 0; r < ranks; r++) {
    const auto [at, is_new] = number.try_emplace(node_of[r], static_cast<int>(members.size()));
    if (is_new) members.emplace_back();
    members[at->second].push_back(r);
  }
  position_.resize(ranks);
  first_.push_back(0);
  for (int n = 0; n < static_cast<int>(members.size()); n++) {
    for (int r : members[n]) {
      position_[r] = static_cast<int>(comm_rank_.size());
      comm_rank_.push_back(r);
      node_.push_back(n);
    }
    first_.push_back(static_cast<int>(comm_rank_.size()));
    const int size = static_cast<int>(members[n].size());
    largest_ = std::max(largest_, size);
    smallest_ = n ? std::min(smallest_, size) : size;
  }
}

Topology Topology::of_sizes(const std::vector<int>& sizes) {
  std::vector<int> node_of;
  for (int n = 0; n < static_cast<int>(sizes.size()); n++)
    node_of.insert(node_of.end(), sizes[n], n);
  return Topology(node_of);
}

}  // namespace tide
