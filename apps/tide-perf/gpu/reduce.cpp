// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "dtypes.hpp"
#include "gpu/device.hpp"
#include "gpu/rows.hpp"
#include "patterns.hpp"

namespace perf::gpu {
namespace {

Wide make_wide(const Workload& w) {
  Wide x{w.layout.packed_offsets(w.acc_dtype), 0, 0, nullptr, nullptr};
  x.shard_bytes = static_cast<std::size_t>(x.offsets.back());
  x.count = x.shard_bytes / elem_bytes(w.acc_dtype);
  x.send = allocate(static_cast<std::size_t>(w.ranks) * x.shard_bytes);
  x.recv = allocate(x.shard_bytes);
  return x;
}

Storage views(const Workload& w, const Wide& x) {
  Storage storage{{}, x.recv, true};
  for (int p = 0; p < w.layout.nparams(); ++p)
    storage.ptrs.push_back(x.recv.get() + x.offsets[static_cast<std::size_t>(p)]);
  return storage;
}

std::vector<Piece> chunk_cat_of(const Workload& w, const Wide& x) {
  std::vector<Piece> pieces;
  for (int p = 0; p < w.layout.nparams(); ++p) {
    const int dtype = w.layout.param(p).dtype;
    for (int r = 0; r < w.ranks; ++r) {
      const char* src = static_cast<const char*>(w.grads[p]) +
                        w.layout.first_elem(p, r) * static_cast<std::int64_t>(elem_bytes(dtype));
      char* dst = x.send.get() + r * x.offsets.back() + x.offsets[static_cast<std::size_t>(p)];
      pieces.push_back(
          cast_piece(dst, w.acc_dtype, src, dtype, w.layout.elems(p, r), w.layout.padded_elems(p)));
    }
  }
  return pieces;
}

// Where the output is not the sums' type, FSDP2 casts, and so do we; else the views are the result.
std::vector<Piece> casts_out_of(const Workload& w, const Storage& sums, Storage& result) {
  std::vector<Piece> pieces;
  for (int p = 0; p < w.layout.nparams(); ++p) {
    const std::int64_t elems = w.layout.elems(p, w.rank);
    if (w.out_of(p) == w.acc_dtype)
      result.ptrs[static_cast<std::size_t>(p)] = sums[p];
    else
      pieces.push_back(cast_piece(result[p], w.out_of(p), sums[p], w.acc_dtype, elems, elems));
  }
  return pieces;
}

}  // namespace

Wide prepare_packed_reduce(Workload& w, Contestant& c) {
  const Wide x = make_wide(w);
  const std::size_t all = static_cast<std::size_t>(w.ranks) * x.shard_bytes;
  const Bytes grads = make_bytes(static_cast<std::int64_t>(all), 0);
  fill_packed_grads(w.layout, grads.get(), w.acc_dtype, w.rank);
  upload(x.send.get(), grads.get(), all);
  c.clear = [x] { fill(x.recv.get(), 0xcd, x.shard_bytes); };
  c.verify = [&w, result = views(w, x)] {
    return check_shards(w.layout, result, w.acc_dtype, w.rank);
  };
  return x;
}

StockReduce prepare_stock_reduce(Workload& w, Contestant& c) {
  const Wide x = make_wide(w);
  c.workspace_bytes = w.ranks * x.offsets.back();
  Storage result = make_private(w.layout, What::shard, w.rank, w.out_dtype, true);
  const Batch casts(casts_out_of(w, views(w, x), result));
  c.clear = [=, &w] {
    fill(x.recv.get(), 0xcd, x.shard_bytes);
    poison(w.layout, result, What::shard, w.rank, w.out_dtype);
  };
  c.verify = [=, &w] { return check_shards(w.layout, result, w.out_dtype, w.rank); };
  return {x, Batch(chunk_cat_of(w, x)), casts};
}

Contestant nccl_reduce_scatter(Workload& w) {
  Contestant c{"nccl", "ncclReduceScatter of a packed fp32 buffer, no cast, no layout"};
  const Wide x = prepare_packed_reduce(w, c);
  c.run = [x, acc = w.acc_dtype, nccl = w.gpu->nccl, stream = std::make_shared<Stream>()] {
    nccl->reduce_scatter(x.send.get(), x.recv.get(), x.count, acc, *stream);
    stream->synchronise();
  };
  return c;
}

Contestant stock_reduce_scatter(Workload& w) {
  Contestant c{"stock", "FSDP2: chunk_cat to fp32, ncclReduceScatter, views"};
  const StockReduce s = prepare_stock_reduce(w, c);
  c.run = [s, acc = w.acc_dtype, nccl = w.gpu->nccl, stream = std::make_shared<Stream>()] {
    s.chunk_cat.run(*stream);
    nccl->reduce_scatter(s.wide.send.get(), s.wide.recv.get(), s.wide.count, acc, *stream);
    s.casts.run(*stream);
    stream->synchronise();
  };
  return c;
}

}  // namespace perf::gpu
