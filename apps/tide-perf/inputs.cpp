// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "agreement.hpp"
#include "modes.hpp"

// How soon a reduce-scatter's gradients are free: wait_inputs against the whole, for each value of
// tide_workspace_bytes, interleaved.
namespace perf {
namespace {

std::string workspace_of(const Workload& w, const std::string& asked) {
  if (asked == "auto") return "0";
  if (asked != "min") return asked;
  MPIX_Tide_sizes sizes{};
  tools::check_tide(MPIX_Tide_group_sizes(w.group, &sizes), "MPIX_Tide_group_sizes");
  long long bytes = sizes.reduce_scatter_workspace_min_bytes;
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_LONG_LONG, MPI_MAX, w.comm);
  return fmt::format("{}", bytes);
}

// Seconds until the slowest rank's inputs are free, and until it has its results.
std::pair<double, double> time_inputs(MPI_Comm comm, const Operation& op) {
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  op.start();
  op.wait_inputs();
  double times[2] = {MPI_Wtime() - begin, 0};
  op.wait();
  times[1] = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, comm);
  return {times[0], times[1]};
}

}  // namespace

void measure_inputs(const Options& o, Workload& w, Progress& progress, Result& result) {
  std::vector<std::string> workspaces = o.workspaces;
  if (workspaces.empty()) workspaces = {"auto"};
  std::vector<InputsRow>& rows = result.inputs_rows;
  std::vector<Operation> ops;
  for (const std::string& asked : workspaces) {
    Operation& op = ops.emplace_back(tide_operation(
        w, false, "tide_workspace_bytes=" + asked,
        {{"tide_progress", result.progress}, {"tide_workspace_bytes", workspace_of(w, asked)}}));
    op.run = [start = op.start, wait_inputs = op.wait_inputs, wait = op.wait] {
      start();
      wait_inputs();
      wait();
    };
    rows.push_back({asked, op.refused, op.workspace_bytes, {}, {}, 0});
  }
  const std::vector<Contestant> verified(ops.begin(), ops.end());
  verify_all(w.comm, verified, "before timing wait_inputs");
  for (int rep = -o.warmup; rep < o.reps; ++rep) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (!ops[i].refused.empty()) continue;
      const auto [inputs_s, whole_s] = time_inputs(w.comm, ops[i]);
      if (rep < 0) continue;
      rows[i].inputs.push_back(inputs_s);
      rows[i].whole.push_back(whole_s);
    }
    progress.say("wait_inputs, repetition", rep + o.warmup + 1, o.warmup + o.reps);
  }
  verify_all(w.comm, verified, "after timing wait_inputs");
  for (InputsRow& row : rows)
    if (row.refused.empty()) row.share = summarise(row.inputs).median / summarise(row.whole).median;
}

}  // namespace perf
