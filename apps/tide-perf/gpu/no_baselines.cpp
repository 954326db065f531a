// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/baselines.hpp"

#include <stdexcept>

#include "gpu/beside.hpp"
#include "gpu/device.hpp"
#include "gpu/displaced.hpp"
#include "gpu/in_process.hpp"
#include "gpu/trace.hpp"

namespace perf::gpu {

class Nccl {};

std::string open_trace(const Options&, MPI_Comm, Session&) { return ""; }

void open_nccl(const Options&, MPI_Comm, Session& session) {
  session.no_nccl = not_built_for_kernels();
}

std::vector<Contestant> baselines(const Options& o, Workload&, bool allgather) {
  std::vector<Contestant> all;
  for (const char* name : {"stock", "copy-out", "nccl", "stock-ce", "nccl-ce", "plain"}) {
    const bool both = name == std::string("stock") || name == std::string("nccl");
    if (!o.has_baseline(name) || (!allgather && !both)) continue;
    all.push_back({name, ""});
    all.back().refused = "left out: " + not_built_for_kernels();
  }
  return all;
}

std::vector<Contestant> in_process_baselines(const Options& o, std::vector<Workload>&,
                                             bool allgather) {
  std::vector<Contestant> all;
  for (const char* name : {"plain", "stock-resident", "resident"}) {
    if (!o.has_baseline(name) || allgather != (name == std::string("plain"))) continue;
    all.push_back({name, ""});
    all.back().refused = "left out: " + not_built_for_kernels();
  }
  return all;
}

// The options are refused, so nobody comes here.
void measure_beside(const Options&, Workload&, const std::vector<Contestant>&, Result&) {
  throw std::invalid_argument("--beside: " + not_built_for_kernels());
}
void measure_trace(const Options&, Workload&, const std::vector<Contestant>&, Result&) {
  throw std::invalid_argument("--trace: " + not_built_for_kernels());
}
void measure_displaced(const Options&, Workload&, const std::vector<Contestant>&, Result&) {
  throw std::invalid_argument("--displaced: " + not_built_for_kernels());
}

}  // namespace perf::gpu
