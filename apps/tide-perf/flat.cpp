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
  std::int64_t shard_bytes, count;  // count: of MPI's elements in a shard
  Bytes send, recv;
};

// Buffers, clear and verify of a collective, or why it is refused.  `call` is MPI's name.
Flat prepare_gather(Workload& w, Contestant& c, const char* call) {
  Flat f{w.layout.packed_offsets(0), 0, 0, nullptr, nullptr};
  f.shard_bytes = f.count = f.offsets.back();
  c.refused = int_count_problem(call, f.count);
  if (!c.refused.empty()) return f;
  f.send = make_bytes(f.shard_bytes, 0);
  f.recv = make_bytes(w.ranks * f.shard_bytes);
  fill_packed_shard(w.layout, f.send.get(), w.rank);
  c.clear = [&w, f] {
    std::memset(f.recv.get(), 0xcd, static_cast<std::size_t>(w.ranks * f.shard_bytes));
  };
  c.verify = [&w, f] { return check_packed(w.layout, f.recv.get(), f.shard_bytes); };
  return f;
}

Flat prepare_reduce(Workload& w, Contestant& c, const char* call) {
  Flat f{w.layout.packed_offsets(w.acc_dtype), 0, 0, nullptr, nullptr};
  f.shard_bytes = f.offsets.back();
  f.count = f.shard_bytes / static_cast<std::int64_t>(elem_bytes(w.acc_dtype));
  c.refused = int_count_problem(call, f.count);
  if (!c.refused.empty()) return f;
  f.send = make_bytes(w.ranks * f.shard_bytes, 0);
  f.recv = make_bytes(f.shard_bytes);
  fill_packed_grads(w.layout, f.send.get(), w.acc_dtype, w.rank);
  Storage result{{}, f.recv};
  for (int p = 0; p < w.layout.nparams(); ++p)
    result.ptrs.push_back(f.recv.get() + f.offsets[static_cast<std::size_t>(p)]);
  c.clear = [f] { std::memset(f.recv.get(), 0xcd, static_cast<std::size_t>(f.shard_bytes)); };
  c.verify = [&w, result] { return check_shards(w.layout, result, w.acc_dtype, w.rank); };
  return f;
}

}  // namespace

Contestant flat_allgather(Workload& w) {
  Contestant c{"flat", "MPI_Allgather of a flat buffer, no layout conversion"};
  const Flat f = prepare_gather(w, c, "MPI_Allgather");
  c.run = [&w, f] {
    const int bytes = static_cast<int>(f.count);
    MPI_Allgather(f.send.get(), bytes, MPI_BYTE, f.recv.get(), bytes, MPI_BYTE, w.comm);
  };
  return c;
}

Contestant flat_reduce_scatter(Workload& w) {
  Contestant c{"flat", "MPI_Reduce_scatter_block of a flat fp32 buffer, no cast, no layout"};
  const Flat f = prepare_reduce(w, c, "MPI_Reduce_scatter_block");
  c.run = [&w, f] {
    MPI_Reduce_scatter_block(f.send.get(), f.recv.get(), static_cast<int>(f.count), acc_type(w),
                             MPI_SUM, w.comm);
  };
  return c;
}

Operation flat_operation(Workload& w, bool allgather, const std::string& name) {
  Operation o;
  o.name = name;
  const char* const call = allgather ? "MPI_Iallgather" : "MPI_Ireduce_scatter_block";
  o.what = std::string(call) + " of a flat buffer";
  const Flat f = (allgather ? prepare_gather : prepare_reduce)(w, o, call);
  const auto request = std::make_shared<MPI_Request>(MPI_REQUEST_NULL);
  o.start = [&w, f, request, allgather] {
    const int count = static_cast<int>(f.count);
    if (allgather)
      MPI_Iallgather(f.send.get(), count, MPI_BYTE, f.recv.get(), count, MPI_BYTE, w.comm,
                     request.get());
    else
      MPI_Ireduce_scatter_block(f.send.get(), f.recv.get(), count, acc_type(w), MPI_SUM, w.comm,
                                request.get());
  };
  o.test = [request] {
    int done = 0;
    MPI_Test(request.get(), &done, MPI_STATUS_IGNORE);
  };
  o.wait = [request] { MPI_Wait(request.get(), MPI_STATUS_IGNORE); };
  return o;
}

}  // namespace perf
