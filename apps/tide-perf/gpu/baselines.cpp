// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/baselines.hpp"

#include <fmt/format.h>

#include "agreement.hpp"
#include "gpu/rows.hpp"

namespace perf::gpu {

void open_nccl(const Options& o, MPI_Comm comm, Session& session) {
  if (!o.has_baseline("stock") && !o.has_baseline("copy-out") && !o.has_baseline("nccl")) return;
  try {
    session.nccl = Nccl::open(comm, session);
    session.nccl_version = session.nccl->version() + " of " + session.nccl_library;
  } catch (const tools::AgreedError& e) {
    session.no_nccl = e.what();
  }
}

std::vector<Contestant> baselines(const Options& o, Workload& w, bool allgather) {
  struct Entry {
    const char* name;
    Contestant (*allgather)(Workload&);
    Contestant (*reduce_scatter)(Workload&);
    bool of_nccl;
  };
  const Entry entries[] = {
      {"stock", [](Workload& x) { return stock_allgather(x, true); }, stock_reduce_scatter, true},
      {"copy-out", [](Workload& x) { return stock_allgather(x, false); }, nullptr, true},
      {"nccl", nccl_allgather, nccl_reduce_scatter, true},
      {"plain", plain_allgather, nullptr, false}};
  std::vector<Contestant> all;
  for (const Entry& e : entries) {
    const auto make = allgather ? e.allgather : e.reduce_scatter;
    const bool bound_of_late = o.skew_ms > 0 && !e.of_nccl;  // it waits for no rank
    if (make == nullptr || !o.has_baseline(e.name) || bound_of_late) continue;
    if (e.of_nccl && !w.gpu->nccl) {
      all.push_back({e.name, ""});
      all.back().refused = "left out: " + w.gpu->no_nccl;
    } else {
      all.push_back(make(w));
    }
  }
  return all;
}

}  // namespace perf::gpu
