// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/beside.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "agreement.hpp"
#include "gpu/gemm.hpp"
#include "gpu/in_turn.hpp"
#include "measure.hpp"

namespace perf::gpu {
namespace {

// One row a contestant; a call's own time is taken with them.
std::vector<BesideRow> measure_victim(const Options& o, const Workload& w, Gemms& gemms,
                                      const std::vector<Contestant>& contestants,
                                      Progress& progress) {
  std::vector<BesideRow> rows;
  std::vector<int> between;
  for (const Contestant& c : contestants) {
    rows.push_back({"", c.name, c.what, c.refused, gemms.flops(), {}, {}, {}, {}});
    between.push_back(c.refused.empty() ? calls_between(w.comm, c) : 1);
  }
  const auto full_bytes = static_cast<double>(w.list->full_bytes());
  for (int rep = -std::min(o.warmup, 1); rep < o.reps; ++rep) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      // A different one is first in each repetition.
      const std::size_t i = (k + static_cast<std::size_t>(rep + 1)) % rows.size();
      const Contestant& c = contestants[i];
      if (!c.refused.empty()) continue;
      const double alone_s = time_alone(w.comm, gemms.victim());
      const Beside beside = time_beside(w.comm, gemms.victim(), c, between[i]);
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
    Gemms gemms(*cublas, shape);
    for (BesideRow& row : measure_victim(o, w, gemms, contestants, progress)) {
      row.victim = shape.name();
      result.beside_rows.push_back(std::move(row));
    }
  }
  verify_all(w.comm, contestants, "after timing");
}

}  // namespace perf::gpu
