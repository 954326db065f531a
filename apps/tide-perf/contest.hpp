// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gpu/session.hpp"
#include "group.hpp"
#include "kernels.hpp"
#include "layout.hpp"
#include "memory.hpp"

// What is compared: the library and the baselines, all on the same inputs.
namespace perf {

/// The inputs and the places of the results.  All members of a list stand on all ranks alike.
struct Workload {
  MPI_Comm comm;       // the baselines' communicator; errors on it are fatal
  MPI_Comm tide_comm;  // the library's; errors on it return
  int rank, ranks;
  const ParamList* list;
  Layout layout;
  MPIX_Tide_group group;  // null where this is one of the ranks of --in-process
  MPIX_Tide_topology topology;
  std::string share, memory;
  int out_dtype;  // of reduce-scatter, 0: each parameter's own
  int acc_dtype;  // of the baselines' sums: fp32, or fp64 where the list or the output has it

  Storage shards, params;  // all-gather: input, output
  Storage grads, reduced;  // reduce-scatter: input, output
  Storage own_params;      // the baselines' parameters: private, also where Tide's are shared
  Storage own_reduced;     // the baselines' shards

  const gpu::Session* gpu = nullptr;  // the devices of the run

  int out_of(int p) const { return out_dtype != 0 ? out_dtype : layout.param(p).dtype; }
};

struct Contestant {
  std::string name, what;
  std::int64_t workspace_bytes = 0;  // buffers beside inputs and outputs
  std::string refused;               // why it does not take part, empty if it does
  std::function<void()> run;
  std::function<void()> clear;          // poisons the results
  std::function<std::string()> verify;  // empty, or the first wrong element
};

/// Clear and verify of this rank's outputs.
void prepare_results(Workload& w, bool allgather, Contestant& c);
/// Workspace, clear and verify of a call of the library's by `group`.
void prepare_tide(Workload& w, bool allgather, MPIX_Tide_group group, Contestant& c);
Contestant tide_allgather(Workload& w);
Contestant tide_reduce_scatter(Workload& w);
Contestant stock_allgather(Workload& w);
Contestant stock_reduce_scatter(Workload& w);
Contestant flat_allgather(Workload& w);
Contestant flat_reduce_scatter(Workload& w);
Contestant per_param_allgather(Workload& w);
Contestant per_param_reduce_scatter(Workload& w);
Contestant a2a_reduce_scatter(Workload& w);
Contestant limit_allgather(Workload& w);
Contestant limit_reduce_scatter(Workload& w);

/// A nonblocking operation.  run() computes while it is in progress, so that what is verified is
/// what is timed.
struct Operation : Contestant {
  bool tests = false;  // calls test() during the computation; else something else drives it
  std::function<void()> start, test, wait;
  std::function<void()> wait_inputs;  // the library's only
};

/// `keys` are info keys of the group, tide_progress among them.  Where the library refuses them on
/// all ranks the operation is refused with its words.  Collective.
Operation tide_operation(Workload& w, bool allgather, const std::string& name, const Keys& keys);
/// MPI_Iallgather or MPI_Ireduce_scatter_block of flat buffers.
Operation flat_operation(Workload& w, bool allgather, const std::string& name);

/// A word of refusal if `count` items are more than an MPI call can count, else empty.
std::string int_count_problem(const char* call, std::int64_t count);

/// Runs both variants of a loop a few times on this rank and says which store is faster.
Store faster_store(const std::function<void(Store)>& loop);

/// The MPI type of acc_dtype.
MPI_Datatype acc_type(const Workload& w);

}  // namespace perf
