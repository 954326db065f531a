// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "contest.hpp"
#include "options.hpp"

// --in-process: all ranks of one node in this process and in one context of one device, so that
// their kernels run beside each other; processes that share a GPU take it in turns.
// in_process.cpp and, for the baselines, in_process_baselines.cpp; stubs elsewhere.
namespace perf::gpu {

/// Device memory as the library's own is, private to this process.
Bytes mapped(int device, std::int64_t bytes);

/// The library's planner and device backend: the plans of all ranks, each carried out by a thread
/// of its own, without MPI and without the entry and exit of a call.  `ranks`, filled,
/// outlive it.  Throws std::invalid_argument where the environment has a value that the library
/// refuses.
Contestant tide_in_process(std::vector<Workload>& ranks, bool allgather);

/// The baselines that the options name:
///   all-gather      plain           cudaMemcpyAsync of the shards into the memory of all ranks
///   reduce-scatter  stock-resident  chunk_cat with the cast to fp32, `resident`, views
///                   resident        a kernel of NCCL's size a rank, that lives until the last byte
///                                   and reads the ranks' packed fp32 where it is
std::vector<Contestant> in_process_baselines(const Options& options, std::vector<Workload>& ranks,
                                             bool allgather);

/// Clear and verify of all ranks' parts, which name the rank.
void combine(const std::vector<Contestant>& parts, Contestant& whole);

}  // namespace perf::gpu
