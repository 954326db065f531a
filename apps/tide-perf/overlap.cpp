// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause

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

std::vector<Operation> operations_of(const Options& o, Workload& w, bool allgather,
                                     const std::string& progress) {
  const bool polls = progress == "poll";
  std::vector<Operation> ops{tide_operation(w, allgather, polls ? "tide test" : "tide thread",
                                            {{"tide_progress", progress}})};
  ops.back().tests = polls;
  if (!o.has_baseline("mpi")) return ops;
  ops.push_back(flat_operation(w, allgather, "mpi"));
  if (!polls) return ops;
  ops.push_back(flat_operation(w, allgather, "mpi test"));
  ops.back().tests = true;
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

// What is timed, and where the times go; and what is verified.
struct Schedule {
  std::vector<Contestant> timed, verified;
  std::vector<std::vector<double>*> places;

  void time(std::function<void()> run, std::vector<double>& place) {
    timed.emplace_back().run = std::move(run);
    places.push_back(&place);
  }
};

// The operation alone, and with each computation, whose length is fitted to it.
void schedule(Workload& w, const Operation& op, std::vector<Compute>& kernels, OverlapRow& row,
              Schedule& s) {
  const double alone_s = time_alone(w.comm, op);
  s.time([&op] { run_alone(op); }, row.alone);
  row.kernels.resize(kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    Compute& c = kernels[i];
    OverlapKernel& k = row.kernels[i];
    const int slices = c.slices_for(w.comm, alone_s);
    k.name = c.name();
    k.slices = slices;
    s.time([&c, slices] { compute(c, slices); }, k.compute);
    s.time([&op, &c, slices] { run_behind(op, c, slices); }, k.overlapped);
    s.verified.push_back(op);
    s.verified.back().run = s.timed.back().run;
  }
}

}  // namespace

void measure_overlap(const Options& o, Workload& w, bool allgather, Result& result) {
  Progress progress(w.rank);
  const std::vector<Operation> ops = operations_of(o, w, allgather, result.progress);
  std::vector<Compute> kernels{{Compute::Kind::cache, o.test_every_us},
                               {Compute::Kind::stream, o.test_every_us}};
  std::vector<OverlapRow>& rows = result.overlap_rows;
  rows.resize(ops.size());  // the schedule points into it
  Schedule s;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    rows[i] = {ops[i].name, ops[i].what, ops[i].refused, {}, 0, {}};
    if (ops[i].refused.empty()) schedule(w, ops[i], kernels, rows[i], s);
    progress.say("fitting computations", static_cast<int>(i) + 1, static_cast<int>(ops.size()));
  }
  verify_all(w.comm, s.verified, "before timing");
  const auto samples = measure(w.comm, s.timed, o.warmup, o.reps, o.seed, progress);
  for (std::size_t k = 0; k < samples.size(); ++k) *s.places[k] = samples[k];
  verify_all(w.comm, s.verified, "after timing");
  for (OverlapRow& row : rows)
    if (row.refused.empty()) summarise_row(row);
  if (!allgather) measure_inputs(o, w, progress, result);
}

}  // namespace perf
