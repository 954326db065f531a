// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// How a reduce-scatter cuts its blocks, and what workspace that takes.  Everything here is a
// function of values that are equal on all ranks, so a sender and a receiver agree without a word;
// on several nodes the cuts do not depend on how a node reaches its gradients, for one node may
// stage while another loads.
//   A slice is one contributor's part of a chunk.  A landing slot holds one chunk: a row of each
//   node (raw: of each rank; Latin square: a row per layer and sub-slice, ceil(M / L) * L).  Slices
//   wait to be put in `sends` places: node partials, or, where the plan is raw, the rows of the
//   node's ranks in the stage.
// The budget W is split over 2 landing slots and 3 places to send from, so slices get smaller as M
// grows and the workspace does not grow.  The default W depends on the largest block S alone.
#pragma once
#include "plan/blocks.hpp"

namespace tide {

struct Cuts {
  Cuts(const Topology&, const Layout& packing, bool raw, const Limits&, const Options&);

  bool raw = false, latin = false;
  int chunks = 0;        // most chunks of any block
  int slots = 0;         // landing slots
  size_t slice = 0;      // bytes of the largest slice
  size_t sends = 0;      // places to send from
  size_t spare = 0;      // landing bytes reserved so that the reservation does not depend on M
  size_t min_bytes = 0;  // the smallest budget
  int landing_rows = 0;  // of a slot
  int send_rows = 1;     // of a place to send from
  size_t last_sum = 0;   // Latin square: accumulator of the last sums

  int chunks_of(int m, int rail) const { return count(blocks_[index(m, rail)], target_); }
  // Chunk c of a block is [cut(c), cut(c + 1)); the boundaries are element boundaries.
  size_t cut(int m, int rail, int c) const;
  // The same for one rank's packed shard (Latin square: its chunks are those of its node's largest
  // shard).
  size_t cut_shard(int rank, int c) const;
  size_t own_slots() const { return t_.nodes() == 1 ? 2 : 1; }

 private:
  size_t index(int m, int rail) const { return static_cast<size_t>(m) * t_.rails() + rail; }
  int count(size_t bytes, size_t target) const;
  size_t widest(size_t bytes, int chunks) const;
  size_t round_up(size_t bytes) const { return (bytes + elem_ - 1) / elem_ * elem_; }
  void lay_out(size_t target);  // sets target_ and what follows from it
  size_t budgeted() const;      // bytes that count against W

  const Topology& t_;
  const Layout& y_;
  bool peer_loads_;
  size_t elem_ = 1;
  bool one_elem_size_ = true;
  size_t target_ = 1;           // chunk bytes aimed at
  std::vector<size_t> blocks_;  // Latin square: the largest shard of the node
};

}  // namespace tide
