// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A plan's sums with their addresses, cut into what each kernel takes.
#include <algorithm>
#include <utility>

#include "backend/cuda/lower.hpp"
#include "backend/host/host.hpp"

namespace tide::gpu {
namespace {

// Asks the driver for each row, so only where the rows are long enough.
bool on_device(const Summing& s) {
  return std::all_of(s.rows.begin(), s.rows.end(),
                     [](const void* row) { return !row || device_of(row) >= 0; });
}

bool one_by_one(const std::vector<int>& groups) {
  return std::all_of(groups.begin(), groups.end(), [](int rows) { return rows <= 1; });
}

// By type: one program has one set.
template <class Make>
void make_programs(std::vector<Summing>& pieces, Lowered& into, const Make& make) {
  while (!pieces.empty()) {
    const auto like = [first = pieces.front()](const Summing& s) {
      return s.in == first.in && s.acc == first.acc && s.out == first.out;
    };
    const auto rest = std::stable_partition(pieces.begin(), pieces.end(), like);
    into.sums.push_back(make({pieces.begin(), rest}));
    pieces.erase(pieces.begin(), rest);
  }
}

}  // namespace

Lowered lower(const Work& work, const Sum& op, Stream& stream) {
  const Topology& t = *work.topology;
  const bool every = op.rows == every_local, final = op.dst.buffer == Buffer::shard;
  const int rows = every ? t.size(t.node(work.rank)) : op.rows;
  const bool raw =
      op.src.buffer == Buffer::param || op.src.buffer == Buffer::stage || work.plan->raw;
  std::vector<int> groups{rows};
  if (op.order == Order::nodes) {
    groups.clear();
    for (int n = 0; n < t.nodes(); n++) groups.push_back(t.size(n));
  }
  // Groups of a row each are added like one group of all of them.
  const bool by_rings =
      stream.has_rings() && (groups.size() == 1 || (!op.base && one_by_one(groups)));
  SumParts parts;
  work.layout->for_each_piece(op.interval, [&](const Piece& piece) {
    const size_t p = static_cast<size_t>(piece.param);
    const Dtype acc = work.types->acc[p], in = raw ? work.types->param[p] : acc;
    Summing sum{{},   nullptr, nullptr, piece.elems, in, acc, final ? work.types->shard[p] : acc,
                final};
    for (int h = 0; h < rows; h++) {
      const int k = op.order == Order::ranks ? t.position(h) : h;
      sum.rows.push_back(every ? local_row(work, op, piece, bytes_of(in), h)
                               : workspace_at(work, op.src, op.interval, piece, bytes_of(in)) +
                                     static_cast<size_t>(k) * op.src.pitch);
    }
    if (op.base) sum.base = workspace_at(work, *op.base, op.interval, piece, bytes_of(acc));
    sum.dst = final ? static_cast<char*>(work.addresses.shard_out[p]) +
                          piece.shard_elem * bytes_of(sum.out)
                    : workspace_at(work, op.dst, op.interval, piece, bytes_of(acc));
    cut_by_switch(work, op, piece, sum, parts);
  });
  for (const Summing& s : std::exchange(parts.pieces, {})) {
    if (by_rings && s.elems * bytes_of(s.in) >= least_ring_bytes && on_device(s))
      cut_by_rings(s, parts);
    else
      parts.pieces.push_back(s);
  }
  Lowered result;
  make_programs(parts.by_rings, result,
                [&](const std::vector<Summing>& s) { return stream.ring_summing(s); });
  make_programs(parts.pieces, result,
                [&](const std::vector<Summing>& s) { return stream.summing(s, groups); });
#if TIDE_HAVE_MULTICAST
  make_programs(parts.by_switch, result,
                [&](const std::vector<Summing>& s) { return stream.switch_summing(s); });
#endif
  return result;
}

}  // namespace tide::gpu
