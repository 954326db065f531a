// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "contest.hpp"
#include "dtypes.hpp"
#include "patterns.hpp"

// What a skilled user writes today: the gradients' chunks are packed in their own type, exchanged
// with MPI_Alltoall and summed locally in fp32.  The wire carries half of stock's bytes.
namespace perf {
namespace {

struct Exchange {
  std::vector<std::int64_t> offsets;
  std::int64_t shard_bytes;
  Bytes send, recv;
};

void pack(const Workload& w, const Exchange& x) {
  for (int p = 0; p < w.layout.nparams(); ++p) {
    const std::size_t elem = elem_bytes(w.layout.param(p).dtype);
    const char* grad = static_cast<const char*>(w.grads[p]);
    for (int r = 0; r < w.ranks; ++r) {
      const auto bytes = static_cast<std::size_t>(w.layout.elems(p, r)) * elem;
      char* dst = x.send.get() + r * x.shard_bytes + x.offsets[static_cast<std::size_t>(p)];
      if (bytes > 0)
        std::memcpy(dst, grad + static_cast<std::size_t>(w.layout.first_elem(p, r)) * elem, bytes);
    }
  }
}

void sum(const Workload& w, const Exchange& x, Store store) {
  std::vector<const void*> slices(static_cast<std::size_t>(w.ranks));
  for (int p = 0; p < w.layout.nparams(); ++p) {
    for (int r = 0; r < w.ranks; ++r)
      slices[static_cast<std::size_t>(r)] =
          x.recv.get() + r * x.shard_bytes + x.offsets[static_cast<std::size_t>(p)];
    sum_slices(w.own_reduced[p], w.out_of(p), slices.data(), w.ranks, w.layout.param(p).dtype,
               w.acc_dtype, static_cast<std::size_t>(w.layout.elems(p, w.rank)), store);
  }
}

}  // namespace

Contestant a2a_reduce_scatter(Workload& w) {
  Contestant c{"a2a", "pack, MPI_Alltoall in the gradients' type, local fp32 sum"};
  Exchange x{w.layout.packed_offsets(0), 0, nullptr, nullptr};
  x.shard_bytes = x.offsets.back();
  c.refused = int_count_problem("MPI_Alltoall", x.shard_bytes);
  if (!c.refused.empty()) return c;
  c.workspace_bytes = 2 * w.ranks * x.shard_bytes;
  x.send = make_bytes(w.ranks * x.shard_bytes, 0);
  x.recv = make_bytes(w.ranks * x.shard_bytes, 0);
  const Store store = faster_store([&](Store how) { sum(w, x, how); });
  c.run = [&w, x, store] {
    pack(w, x);
    const int bytes = static_cast<int>(x.shard_bytes);
    MPI_Alltoall(x.send.get(), bytes, MPI_BYTE, x.recv.get(), bytes, MPI_BYTE, w.comm);
    sum(w, x, store);
  };
  c.clear = [&w, x] {
    std::memset(x.recv.get(), 0xcd, static_cast<std::size_t>(w.ranks * x.shard_bytes));
    poison(w.layout, w.own_reduced, What::shard, w.rank, w.out_dtype);
  };
  c.verify = [&w] { return check_shards(w.layout, w.own_reduced, w.out_dtype, w.rank); };
  return c;
}

}  // namespace perf
