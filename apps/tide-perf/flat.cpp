// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "contest.hpp"
#include "dtypes.hpp"
#include "patterns.hpp"

// Flat-buffer FSDP: the parameters live packed in one buffer, so there is a collective and nothing
// else.  Its price, a layout in which no parameter keeps its rows together, is not measured.
namespace perf {
namespace {

struct Flat {
  std::vector<std::int64_t> offsets;
  std::int64_t shard_bytes;
  Bytes send, recv;
};

std::string check_gathered(const Workload& w, const Flat& f) {
  for (int r = 0; r < w.ranks; ++r)
    for (int p = 0; p < w.layout.nparams(); ++p) {
      const char* at = f.recv.get() + r * f.shard_bytes + f.offsets[static_cast<std::size_t>(p)];
      const std::string wrong =
          check_bits(at, w.layout.param(p), p, w.layout.first_elem(p, r), w.layout.elems(p, r));
      if (!wrong.empty()) return wrong;
    }
  return "";
}

void fill_send(const Workload& w, const Flat& f) {
  for (int p = 0; p < w.layout.nparams(); ++p)
    for (int r = 0; r < w.ranks; ++r) {
      char* at = f.send.get() + r * f.shard_bytes + f.offsets[static_cast<std::size_t>(p)];
      fill_grads(at, w.acc_dtype, p, w.layout.first_elem(p, r), w.layout.elems(p, r), w.rank);
    }
}

}  // namespace

Contestant flat_allgather(Workload& w) {
  Contestant c{"flat", "MPI_Allgather of a flat buffer, no layout conversion"};
  Flat f{w.layout.packed_offsets(0), 0, nullptr, nullptr};
  f.shard_bytes = f.offsets.back();
  c.refused = int_count_problem("MPI_Allgather", f.shard_bytes);
  if (!c.refused.empty()) return c;
  f.send = make_bytes(f.shard_bytes, 0);
  f.recv = make_bytes(w.ranks * f.shard_bytes);
  for (int p = 0; p < w.layout.nparams(); ++p)
    fill_bits(f.send.get() + f.offsets[static_cast<std::size_t>(p)], w.layout.param(p).dtype, p,
              w.layout.first_elem(p, w.rank), w.layout.elems(p, w.rank));
  c.run = [&w, f] {
    const int bytes = static_cast<int>(f.shard_bytes);
    MPI_Allgather(f.send.get(), bytes, MPI_BYTE, f.recv.get(), bytes, MPI_BYTE, w.comm);
  };
  c.clear = [&w, f] {
    std::memset(f.recv.get(), 0xcd, static_cast<std::size_t>(w.ranks * f.shard_bytes));
  };
  c.verify = [&w, f] { return check_gathered(w, f); };
  return c;
}

Contestant flat_reduce_scatter(Workload& w) {
  Contestant c{"flat", "MPI_Reduce_scatter_block of a flat fp32 buffer, no cast, no layout"};
  Flat f{w.layout.packed_offsets(w.acc_dtype), 0, nullptr, nullptr};
  f.shard_bytes = f.offsets.back();
  const std::int64_t count = f.shard_bytes / static_cast<std::int64_t>(elem_bytes(w.acc_dtype));
  c.refused = int_count_problem("MPI_Reduce_scatter_block", count);
  if (!c.refused.empty()) return c;
  f.send = make_bytes(w.ranks * f.shard_bytes, 0);
  f.recv = make_bytes(f.shard_bytes);
  fill_send(w, f);
  c.run = [&w, f, count] {
    MPI_Reduce_scatter_block(f.send.get(), f.recv.get(), static_cast<int>(count), acc_type(w),
                             MPI_SUM, w.comm);
  };
  Storage result{{}, f.recv};
  for (int p = 0; p < w.layout.nparams(); ++p)
    result.ptrs.push_back(f.recv.get() + f.offsets[static_cast<std::size_t>(p)]);
  c.clear = [f] { std::memset(f.recv.get(), 0xcd, static_cast<std::size_t>(f.shard_bytes)); };
  c.verify = [&w, result] { return check_shards(w.layout, result, w.acc_dtype, w.rank); };
  return c;
}

}  // namespace perf
