// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "plan/cuts.hpp"

#include <stdexcept>

namespace tide {
namespace {
constexpr size_t most_chunks = 1 << 16;  // keeps a plan's length bounded
constexpr size_t mib = size_t{1} << 20;
}  // namespace

int Cuts::count(size_t bytes, size_t target) const {
  if (!bytes) return 0;
  return static_cast<int>(
      std::max<size_t>(1, std::min((bytes + target - 1) / target, bytes / elem_)));
}

// An upper bound of a chunk's bytes; exact where all elements have one size.
size_t Cuts::widest(size_t bytes, int chunks) const {
  if (chunks <= 1) return round_up(bytes);
  if (one_elem_size_) return (bytes / elem_ + chunks - 1) / chunks * elem_;
  return std::min(round_up(bytes), round_up((bytes + chunks - 1) / chunks + elem_ - 1));
}

void Cuts::lay_out(size_t target) {
  const int M = t_.nodes(), L = t_.largest();
  target_ = target;
  chunks = 0;
  slice = last_sum = 0;
  for (int m = 0; m < M; m++)
    for (int i = 0; i < t_.rails(); i++) {
      const size_t bytes = blocks_[index(m, i)];
      chunks = std::max(chunks, count(bytes, target));
      const size_t wide = widest(bytes, count(bytes, target));
      // A Latin slice is one sub-slice of each of the node's L shards.
      const size_t part = round_up((wide + L - 1) / L) + (one_elem_size_ ? 0 : elem_);
      slice = std::max(slice, latin ? std::min(part, wide) * L : wide);
      if (latin) last_sum = std::max(last_sum, wide);
    }
  slots = std::min(2, chunks);
  sends = std::min<size_t>(3, static_cast<size_t>(M - 1) * chunks);
}

size_t Cuts::budgeted() const {
  if (t_.nodes() == 1) return 0;
  const size_t rows = static_cast<size_t>(slots) * landing_rows + sends * send_rows +
                      (raw ? own_slots() * t_.largest() : 0);
  return rows * slice + last_sum;
}

Cuts::Cuts(const Topology& t, const Layout& y, bool raw_slices, const Limits& limits,
           const Options& o)
    : raw(raw_slices && t.nodes() > 1), t_(t), y_(y), peer_loads_(limits.peer_loads) {
  const int M = t.nodes(), L = t.largest();
  latin = limits.switch_sum && t.uniform() && !raw && M > 1 && L > 1;
  elem_ = largest_elem_bytes(y);
  for (int p = 0; p < y.params(); p++)
    one_elem_size_ &= y.elem_bytes(p) == elem_ || y.elem_bytes(p) == 0;
  landing_rows = latin ? (M + L - 1) / L * L : raw ? t.ranks() : M;
  send_rows = raw ? L : 1;
  size_t largest = 0;  // S
  for (int m = 0; m < M; m++)
    for (int i = 0; i < t.rails(); i++) {
      size_t bytes = latin ? 0 : block_bytes(t, y, m, i);
      for (int d = 0; latin && d < L; d++) bytes = std::max(bytes, y.packed_bytes(t.rank(m, d)));
      blocks_.push_back(bytes);
      largest = std::max(largest, bytes);
    }
  const size_t staging = std::max(elem_, o.chunk_bytes / elem_ * elem_);
  if (M == 1) {
    lay_out(peer_loads_ ? std::max(elem_, largest) : staging);
    return;
  }

  const size_t smallest_target = std::max(one_elem_size_ ? elem_ : 2 * elem_,
                                          round_up((largest + most_chunks - 1) / most_chunks));
  lay_out(smallest_target);
  min_bytes = budgeted();
  const size_t usual = std::max({mib, std::min(largest / 2, 64 * mib), min_bytes});
  if (o.workspace_bytes && o.workspace_bytes < min_bytes)
    throw std::invalid_argument("tide_workspace_bytes is " + std::to_string(o.workspace_bytes) +
                                ": this group's reduce-scatter needs at least " +
                                std::to_string(min_bytes));
  const size_t W = o.workspace_bytes ? std::min(o.workspace_bytes, usual) : usual;
  const size_t rows = 2 * static_cast<size_t>(landing_rows) + 3 * static_cast<size_t>(send_rows) +
                      (latin ? 1
                       : raw ? L
                             : 0);
  size_t target = std::max(smallest_target, W / rows / elem_ * elem_);
  target = std::max(smallest_target, std::min(target, staging));
  for (lay_out(target); budgeted() > W && target > smallest_target; lay_out(target))
    target = std::max(smallest_target, target - std::max(elem_, target / 64 / elem_ * elem_));
  const size_t place = send_rows * slice;
  if (o.workspace_bytes) {
    // What is left lets gradients be read, and be free, earlier: a landing slot more takes the own
    // slice of a chunk, and M - 1 places the slices of that chunk for the others.
    const size_t others = static_cast<size_t>(M - 1), step = landing_rows * slice + others * place;
    const size_t left = o.workspace_bytes - budgeted();
    const size_t more = step ? std::min<size_t>(left / step, chunks - slots) : 0;
    slots += static_cast<int>(more);
    sends += more * others + (place ? (left - more * step) / place : 0);
    sends = std::min(sends, others * chunks);
  } else {  // one reservation for every M: of one chunk at up to 61 nodes, at most W
    const size_t reserved = std::min(W, 64 * static_cast<size_t>(send_rows) * largest);
    const size_t own_rows =
        raw && peer_loads_ ? own_slots() * t_.largest() * slice : 0;  // in the budget, not needed
    const size_t used = budgeted() - own_rows;
    spare = reserved - std::min(reserved, used);
  }
}

size_t Cuts::cut(int m, int rail, int c) const {
  const size_t bytes = blocks_[index(m, rail)], parts = static_cast<size_t>(count(bytes, target_));
  const size_t at = c ? bytes / parts * c + bytes % parts * c / parts : 0;
  size_t before = 0;
  for (int h = rail; h < t_.size(m); h += t_.rails()) {
    const int r = t_.rank(m, h);
    if (at < before + y_.packed_bytes(r)) return before + y_.align_down(r, at - before);
    before += y_.packed_bytes(r);
  }
  return at;
}

size_t Cuts::cut_shard(int rank, int c) const {
  const size_t parts = static_cast<size_t>(chunks_of(t_.node(rank), 0)),
               bytes = y_.packed_bytes(rank);
  return y_.align_down(rank, c ? bytes / parts * c + bytes % parts * c / parts : 0);
}

}  // namespace tide
