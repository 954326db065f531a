// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "contest.hpp"
#include "gpu/batch.hpp"
#include "gpu/cuda.hpp"
#include "gpu/nccl.hpp"

// The baselines of a build with CUDA, one function a row.  Each run() ends when its stream has.
namespace perf::gpu {

/// Packed padded shards in device memory: this rank's, and by rank those of all.
struct Packed {
  std::vector<std::int64_t> offsets;  // of each parameter in a shard
  std::int64_t shard_bytes;
  Bytes send, recv;
};
/// Filled, and the contestant's clear and verify of recv; in memory of `allocate`.
Packed prepare_packed_gather(Workload& w, Contestant& c,
                             const std::function<Bytes(std::size_t)>& allocate);

/// By rank, packed and padded, in the type of the sums; and this rank's sums.
struct Wide {
  std::vector<std::int64_t> offsets;
  std::size_t shard_bytes, count;
  Bytes send, recv;
};
/// Packed already, and the contestant's clear and verify of recv.
Wide prepare_packed_reduce(Workload& w, Contestant& c);

/// FSDP2's kernels before and after the reduction; workspace, clear and verify of the result.
struct StockReduce {
  Wide wide;
  Batch chunk_cat, casts;
};
StockReduce prepare_stock_reduce(Workload& w, Contestant& c);

// Collective with copy engines.
Contestant nccl_allgather(Workload& w, Carrier carrier);
Contestant stock_allgather(Workload& w, Carrier carrier, bool copies_in);
Contestant plain_allgather(Workload& w);  // collective
Contestant nccl_reduce_scatter(Workload& w);
Contestant stock_reduce_scatter(Workload& w);

}  // namespace perf::gpu
