// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "breakdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace train {
namespace {

struct Line {
  const char* name;
  double value;
};

// A bar for each part of `all`; unit: what `all` is divided by.
std::string bars(const std::vector<Line>& lines, double all, double unit, const char* units) {
  const int width = 40;
  std::string text;
  for (const Line& line : lines) {
    const double share = all > 0 ? line.value / all : 0;
    const int length = std::clamp(int(share * width + 0.5), 0, width);
    text += fmt::format("    {:<24} {:<40} {:>9.3f} {} {:>3.0f} %\n", line.name,
                        std::string(size_t(length), '#'), line.value / unit, units, 100 * share);
  }
  return text;
}

std::string draw_times(MPI_Comm comm, const StepTimes& times) {
  const StepParts parts = step_parts(comm, times);
  if (times.seconds.empty()) return "";
  std::vector<double> sorted = times.seconds;
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
  return fmt::format(
             "  a step: median {:.3f} ms of {} steps; mean over ranks and steps {:.3f} ms\n",
             1e3 * sorted[sorted.size() / 2], sorted.size(), 1e3 * parts.step) +
         bars({{"computation", parts.computation()},
               {"exposed communication", parts.exposed()},
               {"  gathers", parts.gathers},
               {"  reductions", parts.reductions},
               {"  replicas, norms", parts.other},
               {"  agreement on signals", parts.agreement}},
              parts.step, 1e-3, "ms");
}

std::string draw_memory(MPI_Comm comm, const Memory& memory, int ranks) {
  const Planned& p = memory.planned;
  double sums[6] = {double(p.shards),    double(p.parameters),       double(p.gradients),
                    double(p.workspace), double(memory.application), double(memory.measured)};
  MPI_Allreduce(MPI_IN_PLACE, sums, 6, MPI_DOUBLE, MPI_SUM, comm);
  for (double& sum : sums) sum /= ranks;
  const double planned = std::accumulate(sums, sums + 5, 0.0);
  const double mib = 1 << 20;
  return fmt::format("  memory of a rank (mean): planned {:.3f} MiB, measured {}\n", planned / mib,
                     sums[5] > 0 ? fmt::format("{:.3f} MiB", sums[5] / mib) : "by no means here") +
         bars({{"shards (fp32, 4 kinds)", sums[0]},
               {"gathered parameters", sums[1]},
               {"gradients", sums[2]},
               {"workspace", sums[3]},
               {"activations, batches", sums[4]},
               {"measured", sums[5]}},
              std::max(planned, sums[5]), mib, "MiB");
}

}  // namespace

StepParts step_parts(MPI_Comm comm, const StepTimes& times) {
  const Exposed& e = times.exposed;
  double sums[5] = {std::accumulate(times.seconds.begin(), times.seconds.end(), 0.0), e.gather,
                    e.reduce, e.other, times.agreement};
  MPI_Allreduce(MPI_IN_PLACE, sums, 5, MPI_DOUBLE, MPI_SUM, comm);
  int ranks;
  MPI_Comm_size(comm, &ranks);
  for (double& sum : sums) sum /= std::max(1.0, double(times.seconds.size()) * ranks);
  return {sums[0], sums[1], sums[2], sums[3], sums[4]};
}

int64_t proportional_set() {
  long kib = 0;
  char line[256];
  if (std::FILE* file = std::fopen("/proc/self/smaps_rollup", "r")) {
    while (std::fgets(line, sizeof line, file))
      if (std::sscanf(line, "Pss: %ld", &kib) == 1) break;
    std::fclose(file);
  }
  return int64_t(kib) * 1024;
}

std::string draw_breakdown(MPI_Comm comm, const StepTimes& times, const Memory& memory) {
  int ranks;
  MPI_Comm_size(comm, &ranks);
  const std::string text = draw_times(comm, times);  // both are collective
  return text + draw_memory(comm, memory, ranks);
}

}  // namespace train
