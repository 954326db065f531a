// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/displaced.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "gpu/blocks.hpp"
#include "gpu/in_turn.hpp"
#include "measure.hpp"

namespace perf::gpu {
namespace {

// Of all ranks.
void pool(MPI_Comm comm, Displaced& d) {
  std::array<unsigned long long, 4> counts{d.blocks, d.displaced, d.launches, d.late};
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()),
                MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm);
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  std::vector<int> sizes(static_cast<std::size_t>(ranks)), places(sizes.size());
  const auto mine = static_cast<int>(d.delays_s.size());
  MPI_Allgather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm);
  std::exclusive_scan(sizes.begin(), sizes.end(), places.begin(), 0);
  std::vector<double> delays(static_cast<std::size_t>(places.back() + sizes.back()));
  MPI_Allgatherv(d.delays_s.data(), mine, MPI_DOUBLE, delays.data(), sizes.data(), places.data(),
                 MPI_DOUBLE, comm);
  d = {counts[0], counts[1], counts[2], counts[3], std::move(delays)};
}

// The blocks alone, then beside the calls.
void measure_pair(const Workload& w, Blocks& probe, const Contestant& c, int between, bool counts,
                  DisplacedRow& row) {
  const auto blocks = static_cast<std::size_t>(probe.per_launch());
  const double alone_s = time_alone(w.comm, probe.victim());
  const std::vector<BlockTimes> alone = probe.times();
  const Beside beside = time_beside(w.comm, probe.victim(), c, between);
  if (!counts) return;
  const double gap_ns = usual_gap_ns(alone, blocks);
  add_displaced(alone, blocks, gap_ns, row.alone);
  add_displaced(probe.times(), blocks, gap_ns, row.beside);
  row.victim_alone.push_back(alone_s);
  row.victim_beside.push_back(beside.victim_s);
  row.bytes_per_s.push_back(static_cast<double>(w.list->full_bytes()) * beside.calls_per_s);
}

}  // namespace

void measure_displaced(const Options& o, Workload& w, const std::vector<Contestant>& contestants,
                       Result& result) {
  Progress progress(w.rank);
  verify_all(w.comm, contestants, "before timing");
  Blocks probe;
  result.probe = probe.words();
  std::vector<DisplacedRow>& rows = result.displaced_rows;
  std::vector<int> between;
  for (const Contestant& c : contestants) {
    rows.push_back({c.name, c.what, c.refused, {}, {}, {}, {}, {}});
    between.push_back(c.refused.empty() ? calls_between(w.comm, c) : 1);
  }
  for (int rep = -std::min(o.warmup, 1); rep < o.reps; ++rep) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      // A different one is first in each repetition.
      const std::size_t i = (k + static_cast<std::size_t>(rep + 1)) % rows.size();
      if (contestants[i].refused.empty())
        measure_pair(w, probe, contestants[i], between[i], rep >= 0, rows[i]);
    }
    progress.say("beside blocks, repetition", rep + 1, o.reps);
  }
  for (DisplacedRow& row : rows) {
    pool(w.comm, row.alone);
    pool(w.comm, row.beside);
  }
  verify_all(w.comm, contestants, "after timing");
}

}  // namespace perf::gpu
