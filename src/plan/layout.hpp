// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Which rows of which parameter a rank owns, and where they stand in its *packed shard*: the rank's
// pieces of all parameters one after another in list order, without padding.  Operations address
// packed intervals; only for_each_piece expands them. A Layout counts packed bytes with one element
// size per parameter ("packing"): the gathered type for an all-gather, the accumulation type (or,
// for raw slices, the gradient type) for a reduce-scatter.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "plan/topology.hpp"

namespace tide {

struct Shape {
  int64_t rows = 0, row_elems = 0,
          block_rows = 0;  // block_rows 0 or 1: a boundary may fall on any row
};

struct Interval {  // bytes [begin, end) of a rank's packed shard
  int rank = 0;
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};

struct Piece {  // the part of an interval that lies in one parameter; never empty
  int param;
  size_t elem;        // first element, counted from the start of the whole parameter
  size_t shard_elem;  // first element, counted from the start of this rank's rows of the parameter
  size_t elems;
  size_t packed;  // packed byte of the first element
};

// The rows of every rank.  Shared by the packings of one group.
class Rows {
 public:
  // torch.chunk's rule: R = ceil(ceil(rows / N) / B) * B; rank r owns [min(r R, rows), min((r + 1)
  // R, rows)).
  static std::shared_ptr<const Rows> chunk(int ranks, std::vector<Shape> shapes);
  // first_row[p * (N + 1) + r]: first row of communicator rank r; [.. + N] == rows; non-decreasing
  // (checked by the caller).
  static std::shared_ptr<const Rows> ragged(int ranks, std::vector<Shape> shapes,
                                            std::vector<int64_t> first_row);
  int ranks() const { return ranks_; }
  int params() const { return static_cast<int>(shapes_.size()); }
  const Shape& shape(int p) const { return shapes_[p]; }
  int64_t first(int p, int comm_rank) const;  // comm_rank may be N: the end
  int64_t count(int p, int comm_rank) const {
    return first(p, comm_rank + 1) - first(p, comm_rank);
  }

 private:
  int ranks_ = 0;
  std::vector<Shape> shapes_;
  std::vector<int64_t> chunk_rows_;  // R of each parameter; empty for a ragged layout
  std::vector<int64_t> first_row_;
};

class Layout {  // immutable; ranks are node-major positions
 public:
  Layout(const Topology& topology, std::shared_ptr<const Rows> rows,
         std::vector<uint8_t> elem_bytes);
  int ranks() const { return static_cast<int>(comm_rank_.size()); }
  int params() const { return rows_->params(); }
  const Rows& rows() const { return *rows_; }
  size_t elem_bytes(int p) const { return elem_bytes_[p]; }
  size_t packed_bytes(int rank) const { return packed_bytes_[rank]; }
  size_t total_bytes() const { return total_bytes_; }
  // Packed offset of each parameter's piece of this rank, and the packed size: params() + 1 values.
  // Built at first use.
  const size_t* offsets(int rank) const;
  size_t align_down(int rank,
                    size_t packed) const;  // to the start of the element that holds this byte
  int64_t first_row(int p, int rank) const { return rows_->first(p, comm_rank_[rank]); }
  int64_t row_count(int p, int rank) const { return rows_->count(p, comm_rank_[rank]); }

  template <class F>
  void for_each_piece(Interval v, F&& f) const {  // f(const Piece&), in packed order
    if (v.begin >= v.end) return;
    const size_t* o = offsets(v.rank);
    size_t p = static_cast<size_t>(std::upper_bound(o, o + params() + 1, v.begin) - o) - 1;
    for (size_t at = v.begin; at < v.end; at = o[++p]) {
      const size_t end = std::min(v.end, o[p + 1]);
      if (end <= at) continue;
      const size_t size = elem_bytes_[p], inside = (at - o[p]) / size;
      const size_t before = static_cast<size_t>(first_row(static_cast<int>(p), v.rank)) *
                            rows_->shape(static_cast<int>(p)).row_elems;
      f(Piece{static_cast<int>(p), before + inside, inside, (end - at) / size, at});
    }
  }

 private:
  std::shared_ptr<const Rows> rows_;
  std::vector<uint8_t> elem_bytes_;
  std::vector<int> comm_rank_;
  std::vector<size_t> packed_bytes_;
  size_t total_bytes_ = 0;
  struct Lazy;  // per rank: the offsets, once asked for
  std::shared_ptr<Lazy> lazy_;
};

}  // namespace tide
