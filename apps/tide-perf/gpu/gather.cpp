// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "dtypes.hpp"
#include "gpu/device.hpp"
#include "gpu/rows.hpp"
#include "patterns.hpp"

namespace perf::gpu {

Packed prepare_packed_gather(Workload& w, Contestant& c,
                             const std::function<Bytes(std::size_t)>& allocate) {
  Packed x{w.layout.packed_offsets(0), 0, nullptr, nullptr};
  x.shard_bytes = x.offsets.back();
  const auto shard = static_cast<std::size_t>(x.shard_bytes);
  const std::size_t all = static_cast<std::size_t>(w.ranks) * shard;
  x.send = allocate(shard);
  x.recv = allocate(all);
  const Bytes mine = make_bytes(x.shard_bytes, 0);
  fill_packed_shard(w.layout, mine.get(), w.rank);
  upload(x.send.get(), mine.get(), shard);
  c.clear = [x, all] { fill(x.recv.get(), 0xcd, all); };
  c.verify = [&w, x, all] {
    const Bytes copy = make_bytes(static_cast<std::int64_t>(all));
    download(copy.get(), x.recv.get(), all);
    return check_packed(w.layout, copy.get(), x.shard_bytes);
  };
  return x;
}

static std::shared_ptr<Nccl> nccl_of(const Workload& w, Carrier carrier) {
  return carrier == Carrier::kernels ? w.gpu->nccl : w.gpu->nccl_ce;
}

Contestant nccl_allgather(Workload& w, Carrier carrier) {
  Contestant c = carrier == Carrier::kernels
                     ? Contestant{"nccl", "ncclAllGather of a flat buffer, no layout"}
                     : Contestant{"nccl-ce", "the same by copy engines (CTA policy zero)"};
  const auto nccl = nccl_of(w, carrier);
  const Packed x =
      prepare_packed_gather(w, c, [&](std::size_t bytes) { return nccl->allocate(bytes); });
  c.run = [x, nccl, stream = std::make_shared<Stream>()] {
    nccl->allgather(x.send.get(), x.recv.get(), static_cast<std::size_t>(x.shard_bytes), *stream);
    stream->synchronise();
  };
  return c;
}

namespace {

std::vector<Piece> copies_in_of(const Workload& w, const std::vector<std::int64_t>& offsets,
                                char* mine) {
  std::vector<Piece> pieces;
  for (int p = 0; p < w.layout.nparams(); ++p) {
    const std::int64_t bytes =
        w.layout.elems(p, w.rank) * static_cast<std::int64_t>(elem_bytes(w.layout.param(p).dtype));
    if (bytes > 0)
      pieces.push_back(copy_piece(mine + offsets[static_cast<std::size_t>(p)], w.shards[p], bytes));
  }
  return pieces;
}

std::vector<Piece> copies_out_of(const Workload& w, const std::vector<std::int64_t>& offsets,
                                 const char* all, const Storage& params) {
  std::vector<Piece> pieces;
  for (int p = 0; p < w.layout.nparams(); ++p) {
    const auto elem = static_cast<std::int64_t>(elem_bytes(w.layout.param(p).dtype));
    for (int r = 0; r < w.ranks; ++r) {
      const std::int64_t bytes = w.layout.elems(p, r) * elem;
      const char* src = all + r * offsets.back() + offsets[static_cast<std::size_t>(p)];
      char* dst = static_cast<char*>(params[p]) + w.layout.first_elem(p, r) * elem;
      if (bytes > 0) pieces.push_back(copy_piece(dst, src, bytes));
    }
  }
  return pieces;
}

}  // namespace

static Contestant stock_row(Carrier carrier, bool copies_in) {
  if (carrier == Carrier::copy_engines)
    return {"stock-ce", "stock with nccl-ce: copy-in, ncclAllGather by copy engines, split copy"};
  if (copies_in) return {"stock", "FSDP2: copy-in, ncclAllGather, split copy into the parameters"};
  return {"copy-out", "ncclAllGather, split copy into the parameters; the copy-in for free"};
}

// In place, as FSDP2 gathers: the shards are copied into this rank's part of the buffer.
Contestant stock_allgather(Workload& w, Carrier carrier, bool copies_in) {
  Contestant c = stock_row(carrier, copies_in);
  const auto nccl = nccl_of(w, carrier);
  const std::vector<std::int64_t> offsets = w.layout.packed_offsets(0);
  const auto shard = static_cast<std::size_t>(offsets.back());
  c.workspace_bytes = w.ranks * offsets.back();
  const Bytes all = nccl->allocate(static_cast<std::size_t>(c.workspace_bytes));
  const Storage params = make_private(w.layout, What::full, w.rank, 0, true);
  char* mine = all.get() + w.rank * offsets.back();
  const Batch in(copies_in_of(w, offsets, mine));
  const Batch out(copies_out_of(w, offsets, all.get(), params));
  const auto stream = std::make_shared<Stream>();
  const auto copy_in = [in, stream] { in.run(*stream); };
  c.run = [=] {
    if (copies_in) copy_in();
    nccl->allgather(mine, all.get(), shard, *stream);
    out.run(*stream);
    stream->synchronise();
  };
  c.clear = [=, &w, bytes = static_cast<std::size_t>(c.workspace_bytes)] {
    fill(all.get(), 0xcd, bytes);
    poison(w.layout, params, What::full, w.rank, 0);
    if (!copies_in) copy_in();
    stream->synchronise();
  };
  c.verify = [&w, params] { return check_params(w.layout, params); };
  return c;
}

}  // namespace perf::gpu
