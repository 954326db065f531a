// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "modes.hpp"

// Ranks of a real program arrive late, each at its own time.  A call cannot end before the last
// rank has arrived; what it takes beyond that is the surplus.  The same calls without delays are
// timed in the same run.
namespace perf {
namespace {

// Sleeps, as a rank that is late elsewhere leaves its core to others here.
void arrive_at(double time) {
  const double left = time - MPI_Wtime();
  if (left > 0) std::this_thread::sleep_for(std::chrono::duration<double>(left));
}

struct Sample {
  double arrival, total;
};

// The last rank's arrival and return, from the barrier on.
Sample time_late(MPI_Comm comm, const Contestant& c, double delay_s) {
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  arrive_at(begin + delay_s);
  double times[2] = {MPI_Wtime() - begin, 0};
  c.run();
  times[1] = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, comm);
  return {times[0], times[1]};
}

}  // namespace

void measure_skew(const Options& o, Workload& w, const std::vector<Contestant>& contestants,
                  Result& result) {
  Progress progress(w.rank);
  verify_all(w.comm, contestants, "before timing");
  // Every contestant meets the same delays; each rank has its own.
  std::mt19937_64 random(o.seed + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(w.rank + 1));
  std::uniform_real_distribution<double> delay_s(0, o.skew_ms * 1e-3);
  std::vector<SkewRow>& rows = result.skew_rows;
  for (const Contestant& c : contestants) rows.push_back({c.name, c.what, c.refused, {}, {}, {}});
  for (int rep = -o.warmup; rep < o.reps; ++rep) {
    const double delay = delay_s(random);
    for (std::size_t k = 0; k < contestants.size(); ++k) {
      // A different one is first in each repetition.
      const std::size_t i = (k + static_cast<std::size_t>(rep + o.warmup)) % contestants.size();
      if (!contestants[i].refused.empty()) continue;
      const Sample late = time_late(w.comm, contestants[i], delay);
      const Sample prompt = time_late(w.comm, contestants[i], 0);
      if (rep < 0) continue;
      rows[i].arrival.push_back(late.arrival);
      rows[i].total.push_back(late.total);
      rows[i].prompt.push_back(prompt.total);
    }
    progress.say("repetition", rep + o.warmup + 1, o.warmup + o.reps);
  }
  verify_all(w.comm, contestants, "after timing");
  for (SkewRow& row : rows) {
    std::vector<double> surplus;
    for (std::size_t s = 0; s < row.total.size(); ++s)
      surplus.push_back(row.total[s] - row.arrival[s]);
    row.surplus_s = summarise(surplus).median;
    row.arrival_s = summarise(row.arrival).median;
    row.total_s = summarise(row.total).median;
    row.prompt_s = summarise(row.prompt).median;
  }
}

}  // namespace perf
