// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "layout.hpp"

#include <algorithm>

#include "dtypes.hpp"

namespace perf {
namespace {

template <class Elems>
std::vector<std::int64_t> offsets_of(const Layout& layout, int dtype, Elems elems) {
  std::vector<std::int64_t> offsets;
  std::int64_t at = 0;
  for (int p = 0; p < layout.nparams(); ++p) {
    const auto bytes =
        static_cast<std::int64_t>(elem_bytes(dtype != 0 ? dtype : layout.param(p).dtype));
    at = (at + bytes - 1) / bytes * bytes;
    offsets.push_back(at);
    at += elems(p) * bytes;
  }
  // A whole number of the largest elements, so that shards of all ranks can stand in one buffer.
  offsets.push_back((at + 7) / 8 * 8);
  return offsets;
}

}  // namespace

Layout::Layout(const ParamList& list, int ranks) : list_(&list), ranks_(ranks) {}

std::int64_t Layout::padded_elems(int p) const {
  const Param& param = this->param(p);
  const MPI_Count block = std::max<MPI_Count>(1, param.block_rows);
  const MPI_Count rows = (param.rows + ranks_ - 1) / ranks_;
  return (rows + block - 1) / block * block * param.row_elems;
}

Piece Layout::piece(int p, int rank) const {
  const Param& param = this->param(p);
  const MPI_Count block = std::max<MPI_Count>(1, param.block_rows);
  const MPI_Count chunk = ((param.rows + ranks_ - 1) / ranks_ + block - 1) / block * block;
  const MPI_Count first = std::min(rank * chunk, param.rows);
  return {first, std::min((rank + 1) * chunk, param.rows) - first};
}

std::int64_t Layout::first_elem(int p, int rank) const {
  return piece(p, rank).first_row * param(p).row_elems;
}

std::int64_t Layout::elems(int p, int rank) const {
  return piece(p, rank).rows * param(p).row_elems;
}

std::vector<std::int64_t> Layout::packed_offsets(int dtype) const {
  return offsets_of(*this, dtype, [&](int p) { return padded_elems(p); });
}

std::vector<std::int64_t> Layout::exact_offsets(int rank, int dtype) const {
  return offsets_of(*this, dtype, [&](int p) { return elems(p, rank); });
}

}  // namespace perf
