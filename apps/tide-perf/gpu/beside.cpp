// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/beside.hpp"

#include <algorithm>
#include <stdexcept>

#include "agreement.hpp"
#include "gpu/gemm.hpp"
#include "measure.hpp"

namespace perf::gpu {
namespace {

// Of all ranks: the slowest's time, the least rate.
double largest(MPI_Comm comm, double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
  return value;
}

double time_alone(MPI_Comm comm, Victim& victim) {
  MPI_Barrier(comm);
  victim.launch();
  return largest(comm, victim.seconds());
}

// Of one call, where `calls` follow one another.
double time_calls(MPI_Comm comm, const Contestant& c, int calls) {
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  for (int call = 0; call < calls; ++call) c.run();
  return largest(comm, (MPI_Wtime() - begin) / calls);
}

struct Beside {
  double victim_s, calls_per_s;
};

// Calls back to back until the victim has ended on all ranks, about which they agree every
// `between` calls.  Counted are those that returned before this rank's own victim had ended.
Beside time_beside(MPI_Comm comm, Victim& victim, const Contestant& c, int between) {
  MPI_Barrier(comm);
  victim.launch();
  const double begin = MPI_Wtime();
  double last_s = 1;
  int counted = 0;
  for (int running = 1; running != 0;) {
    for (int call = 0; call < between; ++call) {
      c.run();
      const bool first = counted == 0;
      if (!first && !victim.running()) continue;
      ++counted;  // the first call counts even if it is the longer one
      last_s = MPI_Wtime() - begin;
    }
    running = victim.running() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &running, 1, MPI_INT, MPI_MAX, comm);
  }
  const double seconds_a_call = largest(comm, last_s / counted);
  return {largest(comm, victim.seconds()), 1 / seconds_a_call};
}

// One row a contestant; a call's own time is taken with them.
std::vector<BesideRow> measure_victim(const Options& o, const Workload& w, Victim& victim,
                                      const std::vector<Contestant>& contestants,
                                      Progress& progress) {
  constexpr double agree_every_s = 1e-3;
  std::vector<BesideRow> rows;
  std::vector<int> between;
  for (const Contestant& c : contestants) {
    rows.push_back({"", c.name, c.what, c.refused, victim.flops(), {}, {}, {}, {}});
    between.push_back(1);
    if (!c.refused.empty()) continue;
    time_calls(w.comm, c, 2);
    const double call_s = time_calls(w.comm, c, 5);
    between.back() = std::clamp(static_cast<int>(agree_every_s / call_s), 1, 1000);
  }
  const auto full_bytes = static_cast<double>(w.list->full_bytes());
  for (int rep = -std::min(o.warmup, 1); rep < o.reps; ++rep) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      // A different one is first in each repetition.
      const std::size_t i = (k + static_cast<std::size_t>(rep + 1)) % rows.size();
      const Contestant& c = contestants[i];
      if (!c.refused.empty()) continue;
      const double alone_s = time_alone(w.comm, victim);
      const Beside beside = time_beside(w.comm, victim, c, between[i]);
      const double call_s = time_calls(w.comm, c, 4 * between[i]);
      if (rep < 0) continue;
      rows[i].alone.push_back(alone_s);
      rows[i].beside.push_back(beside.victim_s);
      rows[i].bytes_per_s.push_back(full_bytes * beside.calls_per_s);
      rows[i].call_alone.push_back(call_s);
    }
    progress.say("beside GEMMs, repetition", rep + 1, o.reps);
  }
  return rows;
}

}  // namespace

void measure_beside(const Options& o, Workload& w, const std::vector<Contestant>& contestants,
                    Result& result) {
  Progress progress(w.rank);
  std::unique_ptr<Cublas> cublas;
  std::string problem;
  try {
    cublas = std::make_unique<Cublas>(w.gpu->cublas_library);
  } catch (const std::runtime_error& e) {
    problem = e.what();
  }
  tools::agree(w.comm, problem);
  verify_all(w.comm, contestants, "before timing");
  for (const GemmShape& shape : gemm_shapes(o.beside)) {
    Victim victim(*cublas, shape);
    for (BesideRow& row : measure_victim(o, w, victim, contestants, progress)) {
      row.victim = shape.name();
      result.beside_rows.push_back(std::move(row));
    }
  }
  verify_all(w.comm, contestants, "after timing");
}

}  // namespace perf::gpu
