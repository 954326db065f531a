// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "param_list.hpp"

// The chunk layout (torch.chunk, FSDP2), computed here once more from its definition: a benchmark
// that took it from the library could not notice that the library has it wrong.
namespace perf {

struct Piece {
  MPI_Count first_row = 0, rows = 0;
};

class Layout {
 public:
  Layout(const ParamList& list, int ranks);

  int ranks() const { return ranks_; }
  int nparams() const { return static_cast<int>(list_->params.size()); }
  const Param& param(int p) const { return list_->params[static_cast<std::size_t>(p)]; }

  /// Rows of p that `rank` owns.
  Piece piece(int p, int rank) const;
  std::int64_t first_elem(int p, int rank) const;
  std::int64_t elems(int p, int rank) const;

  /// Padded elements of p's shard: the same on every rank.
  std::int64_t padded_elems(int p) const;

  /// Offsets in a packed padded shard whose parameters have `dtype` each (0: each one's own), and
  /// after the last of them the shard's size in bytes.
  std::vector<std::int64_t> packed_offsets(int dtype) const;

  /// The same without padding, for one rank.
  std::vector<std::int64_t> exact_offsets(int rank, int dtype) const;

 private:
  const ParamList* list_;
  int ranks_;
};

}  // namespace perf
