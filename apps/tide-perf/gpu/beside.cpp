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

struct Turn {
  const Contestant* contestant;
  Pace pace;
  int between;
  BesideRow row;
};

// Rate by rate, of --rate, or back to back.
std::vector<Turn> turns_of(const Options& o, const Workload& w, const Gemms& gemms,
                           const std::vector<Contestant>& contestants) {
  const double bytes = delivered_bytes(static_cast<double>(w.list->full_bytes()), w.layout.ranks());
  std::vector<Turn> turns;
  for (const double gb_per_s : o.rates.empty() ? std::vector<double>{0} : o.rates) {
    const Pace pace = Pace::of(bytes, gb_per_s * 1e9);
    for (const Contestant& c : contestants) {
      const int between = c.refused.empty() ? calls_between(w.comm, c, pace) : 1;
      turns.push_back(
          {&c,
           pace,
           between,
           {"", c.name, c.what, c.refused, gemms.flops(), gb_per_s * 1e9, {}, {}, {}, {}}});
    }
  }
  return turns;
}

// One row a contestant and rate; a call's own time is taken with those that are back to back.
std::vector<BesideRow> measure_victim(const Options& o, const Workload& w, Gemms& gemms,
                                      const std::vector<Contestant>& contestants,
                                      Progress& progress) {
  std::vector<Turn> turns = turns_of(o, w, gemms, contestants);
  const auto full_bytes = static_cast<double>(w.list->full_bytes());
  for (int rep = -std::min(o.warmup, 1); rep < o.reps; ++rep) {
    for (std::size_t k = 0; k < turns.size(); ++k) {
      // A different one is first in each repetition.
      Turn& turn = turns[(k + static_cast<std::size_t>(rep + 1)) % turns.size()];
      const Contestant& c = *turn.contestant;
      if (!c.refused.empty()) continue;
      const double alone_s = time_alone(w.comm, gemms.victim());
      const Beside beside = time_beside(w.comm, gemms.victim(), c, turn.between, turn.pace);
      const double call_s = o.rates.empty() ? time_calls(w.comm, c, 4 * turn.between) : 0;
      if (rep < 0) continue;
      turn.row.alone.push_back(alone_s);
      turn.row.beside.push_back(beside.victim_s);
      turn.row.bytes_per_s.push_back(full_bytes * beside.calls_per_s);
      if (o.rates.empty()) turn.row.call_alone.push_back(call_s);
    }
    progress.say("beside GEMMs, repetition", rep + 1, o.reps);
  }
  std::vector<BesideRow> rows;
  for (Turn& turn : turns) rows.push_back(std::move(turn.row));
  return rows;
}

}  // namespace

void measure_beside(const Options& o, Workload& w, const std::vector<Contestant>& contestants,
                    Result& result) {
  Progress progress(w.rank);
  const bool nothing_comes = !o.rates.empty() && w.layout.ranks() == 1;
  tools::agree(w.comm, nothing_comes ? "--rate: one rank receives nothing; start two or more" : "");
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
