// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/trace.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "agreement.hpp"
#include "cupti.hpp"
#include "gpu/cuda.hpp"
#include "measure.hpp"

namespace perf::gpu {
namespace {

using tools::Activity;

// "run_batch(Piece const*, Tile const*)" for what the linker calls it.
std::string readable(const std::string& name) {
  int failed = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &failed), std::free);
  return failed == 0 && plain ? plain.get() : name;
}

std::map<std::string, int> names_of(const std::vector<Activity>& activities) {
  std::map<std::string, int> names;
  for (const Activity& a : activities)
    if (a.kind == Activity::kernel) ++names[readable(a.name)];
  return names;
}

// One call by itself: what is under way before it is none of its records.
std::vector<Activity> trace_call(const Workload& w, const Contestant& c, double& seconds) {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  MPI_Barrier(w.comm);
  w.gpu->cupti->discard();
  MPI_Barrier(w.comm);
  const double begin = MPI_Wtime();
  c.run();
  seconds = MPI_Wtime() - begin;
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::string problem;
  std::vector<Activity> activities;
  try {
    activities = w.gpu->cupti->take();
  } catch (const std::runtime_error& e) {
    problem = fmt::format("{} on rank {}: {}", c.name, w.rank, e.what());
  }
  tools::agree(w.comm, problem);
  return activities;
}

TraceFigures medians(const std::vector<TraceFigures>& calls) {
  TraceFigures result{};
  for (std::size_t f = 0; f < result.size(); ++f) {
    std::vector<double> samples;
    for (const TraceFigures& call : calls) samples.push_back(call[f]);
    result[f] = summarise(std::move(samples)).median;
  }
  return result;
}

void gather(const Workload& w, const TraceFigures& mine, TraceRow& row) {
  row.ranks.resize(static_cast<std::size_t>(w.ranks));
  MPI_Allgather(mine.data(), trace_figures, MPI_DOUBLE, row.ranks.data(), trace_figures, MPI_DOUBLE,
                w.comm);
  for (const TraceFigures& rank : row.ranks)
    for (std::size_t f = 0; f < rank.size(); ++f)
      row.busiest[f] = std::max(row.busiest[f], rank[f]);
}

std::int64_t multiprocessors() {
  int device = 0, count = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  return count;
}

}  // namespace

std::string open_trace(const Options& o, MPI_Comm comm, Session& session) {
  if (!o.trace) return "";
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string problem, words;
  try {
    session.cupti = std::make_shared<tools::Cupti>(session.cupti_library);
    words = "; CUPTI " + session.cupti->version();
  } catch (const std::runtime_error& e) {
    problem = fmt::format("--trace on rank {}: {}", rank, e.what());
  }
  tools::agree(comm, problem);
  return words;
}

void measure_trace(const Options& o, Workload& w, const std::vector<Contestant>& contestants,
                   Result& result) {
  Progress progress(w.rank);
  verify_all(w.comm, contestants, "before tracing");
  const std::int64_t there_are = multiprocessors();
  std::vector<TraceRow>& rows = result.trace_rows;
  std::vector<std::vector<TraceFigures>> calls(contestants.size());
  for (const Contestant& c : contestants) rows.push_back({c.name, c.what, c.refused, {}, {}, {}});
  for (int rep = -o.warmup; rep < o.reps; ++rep) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      if (!contestants[i].refused.empty()) continue;
      double seconds = 0;
      const std::vector<Activity> activities = trace_call(w, contestants[i], seconds);
      if (rep < 0) continue;
      calls[i].push_back(figures_of(activities, there_are));
      calls[i].back()[call_s] = seconds;
      rows[i].kernel_names = names_of(activities);
    }
    progress.say("traced repetition", rep + o.warmup + 1, o.warmup + o.reps);
  }
  verify_all(w.comm, contestants, "after tracing");
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].refused.empty()) gather(w, medians(calls[i]), rows[i]);
}

}  // namespace perf::gpu
