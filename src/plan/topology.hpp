// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks of a communicator live.  Everywhere in Tide but here a rank is its node-major
// position: node by node in the order of each node's first communicator rank, inside a node in
// communicator order.  M nodes, L ranks on a node.
#pragma once
#include <algorithm>
#include <vector>

namespace tide {

class Topology {
 public:
  // node_of[r]: any number that names the node of communicator rank r; equal numbers, same node.
  explicit Topology(const std::vector<int>& node_of);
  // Nodes of the given sizes, communicator ranks already node-major.
  static Topology of_sizes(const std::vector<int>& sizes);

  int nodes() const { return static_cast<int>(first_.size()) - 1; }     // M
  int ranks() const { return first_.back(); }                           // N
  int size(int node) const { return first_[node + 1] - first_[node]; }  // L of this node
  int first(int node) const { return first_[node]; }
  int rank(int node, int local) const { return first_[node] + local; }
  int node(int rank) const { return node_[rank]; }                  // n
  int local(int rank) const { return rank - first_[node_[rank]]; }  // l
  int largest() const { return largest_; }
  int rails() const { return smallest_; }  // g
  bool uniform() const { return largest_ == smallest_; }
  int comm_rank(int rank) const { return comm_rank_[rank]; }          // node-major -> communicator
  int position(int comm_rank) const { return position_[comm_rank]; }  // communicator -> node-major

 private:
  std::vector<int> first_, node_, comm_rank_, position_;
  int largest_ = 0, smallest_ = 0;
};

}  // namespace tide
