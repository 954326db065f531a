// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "plan/layout.hpp"

#include <utility>

namespace tide {

std::shared_ptr<const Rows> Rows::chunk(int ranks, std::vector<Shape> shapes) {
  auto rows = std::make_shared<Rows>();
  rows->ranks_ = ranks;
  rows->chunk_rows_.reserve(shapes.size());
  for (const Shape& s : shapes) {
    const int64_t block = std::max<int64_t>(1, s.block_rows), each = (s.rows + ranks - 1) / ranks;
    rows->chunk_rows_.push_back((each + block - 1) / block * block);
  }
  rows->shapes_ = std::move(shapes);
  return rows;
}

std::shared_ptr<const Rows> Rows::ragged(int ranks, std::vector<Shape> shapes,
                                         std::vector<int64_t> first_row) {
  auto rows = std::make_shared<Rows>();
  rows->ranks_ = ranks;
  rows->shapes_ = std::move(shapes);
  rows->first_row_ = std::move(first_row);
  return rows;
}

int64_t Rows::first(int p, int comm_rank) const {
  if (!first_row_.empty()) return first_row_[static_cast<size_t>(p) * (ranks_ + 1) + comm_rank];
  const int64_t rows = shapes_[p].rows, each = chunk_rows_[p];
  // Blocks may be so large that rank * each overflows long before it means anything.
  return each && comm_rank > rows / each ? rows : std::min(comm_rank * each, rows);
}

struct Layout::Lazy {
  explicit Lazy(size_t ranks) : of(ranks) {}
  ~Lazy() {
    for (auto& one : of) delete one.load(std::memory_order_relaxed);
  }
  std::vector<std::atomic<const std::vector<size_t>*>> of;
};

Layout::Layout(const Topology& topology, std::shared_ptr<const Rows> rows,
               std::vector<uint8_t> elem_bytes)
    : rows_(std::move(rows)),
      elem_bytes_(std::move(elem_bytes)),
      packed_bytes_(topology.ranks(), 0),
      lazy_(std::make_shared<Lazy>(topology.ranks())) {
  const int N = topology.ranks();
  for (int r = 0; r < N; r++) comm_rank_.push_back(topology.comm_rank(r));
  for (int p = 0; p < params(); p++) {
    const size_t row_bytes = static_cast<size_t>(rows_->shape(p).row_elems) * elem_bytes_[p];
    total_bytes_ += row_bytes * rows_->shape(p).rows;
    if (!row_bytes) continue;
    for (int r = 0; r < N; r++) packed_bytes_[r] += row_bytes * row_count(p, r);
  }
}

const size_t* Layout::offsets(int rank) const {
  auto& place = lazy_->of[rank];
  if (const auto* made = place.load(std::memory_order_acquire)) return made->data();
  auto fresh = std::make_unique<std::vector<size_t>>(params() + 1);
  for (int p = 0; p < params(); p++) {
    const size_t row_bytes = static_cast<size_t>(rows_->shape(p).row_elems) * elem_bytes_[p];
    (*fresh)[p + 1] = (*fresh)[p] + row_bytes * row_count(p, rank);
  }
  // Threads may build the same offsets at the same time: the first one stays, the others are
  // dropped.
  const std::vector<size_t>* first = nullptr;
  if (place.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel))
    first = fresh.release();
  return first->data();
}

size_t Layout::align_down(int rank, size_t packed) const {
  if (packed == 0 || packed >= packed_bytes_[rank]) return packed;
  const size_t* o = offsets(rank);
  const size_t p = static_cast<size_t>(std::upper_bound(o, o + params() + 1, packed) - o) - 1;
  return packed - (packed - o[p]) % elem_bytes_[p];
}

}  // namespace tide
