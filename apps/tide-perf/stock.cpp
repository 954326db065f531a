// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "contest.hpp"
#include "dtypes.hpp"
#include "patterns.hpp"

// FSDP2's own path.
//   All-gather: copy the shards, padded to equal length, into this rank's part of a rank-major
//   buffer; gather it; copy every piece out to its parameter.
//   Reduce-scatter: chunk_cat (block c of the buffer holds the rows of chunk c of every parameter,
//   zero-padded, widened to fp32); reduce-scatter; the shards are views of the result.
namespace perf {
namespace {

struct Gather {
  std::vector<std::int64_t> offsets;
  std::int64_t shard_bytes;
  Bytes out;
};

void pack(const Workload& w, const Gather& g) {
  char* mine = g.out.get() + w.rank * g.shard_bytes;
  for (int p = 0; p < w.layout.nparams(); ++p) {
    const auto bytes =
        static_cast<std::size_t>(w.layout.elems(p, w.rank)) * elem_bytes(w.layout.param(p).dtype);
    if (bytes > 0) std::memcpy(mine + g.offsets[static_cast<std::size_t>(p)], w.shards[p], bytes);
  }
}

void copy_out(const Workload& w, const Gather& g) {
  for (int p = 0; p < w.layout.nparams(); ++p) {
    const std::size_t elem = elem_bytes(w.layout.param(p).dtype);
    char* param = static_cast<char*>(w.own_params[p]);
    for (int r = 0; r < w.ranks; ++r) {
      const auto bytes = static_cast<std::size_t>(w.layout.elems(p, r)) * elem;
      const char* src = g.out.get() + r * g.shard_bytes + g.offsets[static_cast<std::size_t>(p)];
      if (bytes > 0)
        std::memcpy(param + static_cast<std::size_t>(w.layout.first_elem(p, r)) * elem, src, bytes);
    }
  }
}

struct Reduce {
  std::vector<std::int64_t> offsets;
  std::int64_t shard_bytes;
  Bytes send, recv;
};

void chunk_cat(const Workload& w, const Reduce& x) {
  const std::size_t acc = elem_bytes(w.acc_dtype);
  for (int p = 0; p < w.layout.nparams(); ++p) {
    const int dtype = w.layout.param(p).dtype;
    const auto padded = static_cast<std::size_t>(w.layout.padded_elems(p));
    for (int r = 0; r < w.ranks; ++r) {
      const auto elems = static_cast<std::size_t>(w.layout.elems(p, r));
      const char* src = static_cast<const char*>(w.grads[p]) +
                        static_cast<std::size_t>(w.layout.first_elem(p, r)) * elem_bytes(dtype);
      char* dst = x.send.get() + r * x.shard_bytes + x.offsets[static_cast<std::size_t>(p)];
      cast_elems(dst, w.acc_dtype, src, dtype, w.acc_dtype, elems);
      std::memset(dst + elems * acc, 0, (padded - elems) * acc);
    }
  }
}

// The views; where the output is not the sums' type, FSDP2 casts, and so do we.
Storage views(const Workload& w, const Reduce& x) {
  Storage storage{{}, x.recv};
  for (int p = 0; p < w.layout.nparams(); ++p)
    storage.ptrs.push_back(w.out_of(p) == w.acc_dtype
                               ? x.recv.get() + x.offsets[static_cast<std::size_t>(p)]
                               : w.own_reduced[p]);
  return storage;
}

void cast_outputs(const Workload& w, const Reduce& x) {
  for (int p = 0; p < w.layout.nparams(); ++p)
    if (w.out_of(p) != w.acc_dtype)
      cast_elems(w.own_reduced[p], w.out_of(p),
                 x.recv.get() + x.offsets[static_cast<std::size_t>(p)], w.acc_dtype, w.acc_dtype,
                 static_cast<std::size_t>(w.layout.elems(p, w.rank)));
}

}  // namespace

Contestant stock_allgather(Workload& w) {
  Contestant c{"stock", "FSDP2: pack, MPI_Allgather, copy out"};
  Gather g{w.layout.packed_offsets(0), 0, nullptr};
  g.shard_bytes = g.offsets.back();
  c.refused = int_count_problem("MPI_Allgather", g.shard_bytes);
  if (!c.refused.empty()) return c;
  c.workspace_bytes = w.ranks * g.shard_bytes;
  g.out = make_bytes(c.workspace_bytes);
  c.run = [&w, g] {
    pack(w, g);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, g.out.get(), static_cast<int>(g.shard_bytes), MPI_BYTE,
                  w.comm);
    copy_out(w, g);
  };
  c.clear = [&w, g] {
    std::memset(g.out.get(), 0xcd, static_cast<std::size_t>(w.ranks * g.shard_bytes));
    poison(w.layout, w.own_params, What::full, w.rank, 0);
  };
  c.verify = [&w] { return check_params(w.layout, w.own_params); };
  return c;
}

Contestant stock_reduce_scatter(Workload& w) {
  Contestant c{"stock", "FSDP2: chunk_cat to fp32, MPI_Reduce_scatter_block, views"};
  Reduce x{w.layout.packed_offsets(w.acc_dtype), 0, nullptr, nullptr};
  x.shard_bytes = x.offsets.back();
  const std::int64_t count = x.shard_bytes / static_cast<std::int64_t>(elem_bytes(w.acc_dtype));
  c.refused = int_count_problem("MPI_Reduce_scatter_block", count);
  if (!c.refused.empty()) return c;
  c.workspace_bytes = w.ranks * x.shard_bytes;
  x.send = make_bytes(c.workspace_bytes, 0);
  x.recv = make_bytes(x.shard_bytes);
  const Storage result = views(w, x);
  c.run = [&w, x, count] {
    chunk_cat(w, x);
    MPI_Reduce_scatter_block(x.send.get(), x.recv.get(), static_cast<int>(count), acc_type(w),
                             MPI_SUM, w.comm);
    cast_outputs(w, x);
  };
  c.clear = [&w, x, result] {
    std::memset(x.recv.get(), 0xcd, static_cast<std::size_t>(x.shard_bytes));
    poison(w.layout, result, What::shard, w.rank, w.out_dtype);
  };
  c.verify = [&w, result] { return check_shards(w.layout, result, w.out_dtype, w.rank); };
  return c;
}

}  // namespace perf
