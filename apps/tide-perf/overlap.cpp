// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "agreement.hpp"
#include "compute.hpp"
#include "modes.hpp"

// Every operation is timed alone, and behind each computation of about the same length, which is
// timed alone as well; all of it interleaved in one run.
//   hidden share = 1 - (t_overlapped - t_computation) / t_alone        (medians)
namespace perf {
namespace {

void compute(Compute& c, int slices, const std::function<void()>& between = {}) {
  for (int k = 0; k < slices; ++k) {
    c.slice();
    if (between) between();
  }
}

void run_behind(const Operation& op, Compute& c, int slices) {
  op.start();
  compute(c, slices, op.tests ? op.test : std::function<void()>());
  op.wait();
}

void run_alone(const Operation& op) {
  op.start();
  op.wait();
}

std::vector<Operation> operations_of(const Options& o, Workload& w, bool allgather) {
  std::vector<Operation> ops{
      tide_operation(w, allgather, "tide thread", {{"tide_progress", "thread"}}),
      tide_operation(w, allgather, "tide test", {{"tide_progress", "poll"}})};
  ops.back().tests = true;
  if (o.has_baseline("mpi")) {
    ops.push_back(flat_operation(w, allgather, "mpi"));
    ops.push_back(flat_operation(w, allgather, "mpi test"));
    ops.back().tests = true;
  }
  return ops;
}

// The slowest rank's median of a few calls.
double time_alone(MPI_Comm comm, const Operation& op) {
  Contestant c;
  c.run = [&op] { run_alone(op); };
  measure_first(comm, c, 2);
  return summarise(measure_first(comm, c, 5)).median;
}

void summarise_row(OverlapRow& row) {
  row.alone_s = summarise(row.alone).median;
  for (OverlapKernel& k : row.kernels) {
    k.compute_s = summarise(k.compute).median;
    k.overlapped_s = summarise(k.overlapped).median;
    k.hidden = 1 - (k.overlapped_s - k.compute_s) / row.alone_s;
  }
}

std::string workspace_of(const Workload& w, const std::string& asked) {
  if (asked == "auto") return "0";
  if (asked != "min") return asked;
  MPIX_Tide_sizes sizes{};
  tools::check_tide(MPIX_Tide_group_sizes(w.group, &sizes), "MPIX_Tide_group_sizes");
  long long bytes = sizes.reduce_scatter_workspace_min_bytes;
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_LONG_LONG, MPI_MAX, w.comm);
  return fmt::format("{}", bytes);
}

// How soon gradients are free, for one value of tide_workspace_bytes.
InputsRow measure_inputs(const Options& o, Workload& w, const std::string& asked) {
  InputsRow row{asked, "", 0, {}, {}, 0};
  const Operation op =
      tide_operation(w, false, "inputs", {{"tide_workspace_bytes", workspace_of(w, asked)}});
  row.refused = op.refused;
  if (!row.refused.empty()) return row;
  row.workspace_bytes = op.workspace_bytes;
  op.clear();
  for (int rep = -o.warmup; rep < o.reps; ++rep) {
    MPI_Barrier(w.comm);
    const double begin = MPI_Wtime();
    op.start();
    op.wait_inputs();
    double times[2] = {MPI_Wtime() - begin, 0};
    op.wait();
    times[1] = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, w.comm);
    if (rep < 0) continue;
    row.inputs.push_back(times[0]);
    row.whole.push_back(times[1]);
  }
  const std::string wrong = op.verify();
  tools::agree(w.comm,
               wrong.empty() ? "" : fmt::format("wrong result after wait_inputs: {}", wrong));
  row.share = summarise(row.inputs).median / summarise(row.whole).median;
  return row;
}

}  // namespace

void measure_overlap(const Options& o, Workload& w, bool allgather, Result& result) {
  Progress progress(w.rank);
  std::vector<Operation> ops = operations_of(o, w, allgather);
  Compute kernels[] = {{Compute::Kind::cache, o.test_every_us},
                       {Compute::Kind::stream, o.test_every_us}};
  result.overlap_rows.reserve(ops.size());
  std::vector<Contestant> timed, verified;
  std::vector<std::vector<double>*> places;
  const auto time = [&](std::function<void()> run, std::vector<double>& place) {
    timed.emplace_back().run = std::move(run);
    places.push_back(&place);
  };
  for (Operation& op : ops) {
    OverlapRow& row = result.overlap_rows.emplace_back();
    row = {op.name, op.what, op.refused, {}, 0, {}};
    if (!op.refused.empty()) continue;
    const double alone_s = time_alone(w.comm, op);
    time([&op] { run_alone(op); }, row.alone);
    row.kernels.reserve(std::size(kernels));
    for (Compute& c : kernels) {
      const int slices = c.slices_for(w.comm, alone_s);
      OverlapKernel& k = row.kernels.emplace_back();
      k.name = c.name();
      k.slices = slices;
      time([&c, slices] { compute(c, slices); }, k.compute);
      time([&op, &c, slices] { run_behind(op, c, slices); }, k.overlapped);
      verified.push_back(op);
      verified.back().run = timed.back().run;
    }
  }
  verify_all(w.comm, verified, "before timing");
  const auto samples = measure(w.comm, timed, o.warmup, o.reps, o.seed, progress);
  for (std::size_t s = 0; s < samples.size(); ++s) *places[s] = samples[s];
  verify_all(w.comm, verified, "after timing");
  for (OverlapRow& row : result.overlap_rows)
    if (row.refused.empty()) summarise_row(row);
  if (allgather) return;
  const std::vector<std::string> workspaces =
      o.workspaces.empty() ? std::vector<std::string>{"auto"} : o.workspaces;
  for (const std::string& asked : workspaces)
    result.inputs_rows.push_back(measure_inputs(o, w, asked));
}

}  // namespace perf
