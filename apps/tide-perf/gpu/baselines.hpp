// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "contest.hpp"
#include "gpu/session.hpp"
#include "options.hpp"

// What a program on GPUs does today.
//   all-gather      stock     copy-in, ncclAllGather, split copy into the parameters (FSDP2's path)
//                   copy-out  the same without the copy-in
//                   nccl      ncclAllGather of the flat buffer, no layout
//                   stock-ce, nccl-ce   the same by copy engines
//                   plain     cudaMemcpyAsync of the same bytes into the peers' memory; waits for
//                             nobody: a bound, not a collective
//   reduce-scatter  stock     chunk_cat with the cast to fp32, ncclReduceScatter, views (FSDP2's)
//                   nccl      ncclReduceScatter of a packed fp32 buffer
// baselines.cpp, or no_baselines.cpp in a build whose devices are emulated or none.
namespace perf::gpu {

/// NCCL for the session, where a baseline of the options needs it and it can be had; else the
/// reason.  Collective.
void open_nccl(const Options& options, MPI_Comm comm, Session& session);

/// The baselines that the options name; those that cannot take part are refused with a reason.
/// Collective.
std::vector<Contestant> baselines(const Options& options, Workload& w, bool allgather);

}  // namespace perf::gpu
