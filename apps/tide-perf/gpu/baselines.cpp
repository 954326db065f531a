// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/baselines.hpp"

#include <fmt/format.h>

#include "agreement.hpp"
#include "gpu/rows.hpp"

namespace perf::gpu {

static std::shared_ptr<Nccl> open_one(MPI_Comm comm, Session& session, Carrier carrier,
                                      std::string& why_not) {
  try {
    const auto nccl = Nccl::open(comm, session, carrier);
    session.nccl_version = nccl->version() + " of " + session.nccl_library;
    return nccl;
  } catch (const tools::AgreedError& e) {
    why_not = e.what();
    return nullptr;
  }
}

void open_nccl(const Options& o, MPI_Comm comm, Session& session) {
  if (o.has_baseline("stock") || o.has_baseline("copy-out") || o.has_baseline("nccl"))
    session.nccl = open_one(comm, session, Carrier::kernels, session.no_nccl);
  if (o.has_baseline("stock-ce") || o.has_baseline("nccl-ce"))
    session.nccl_ce = open_one(comm, session, Carrier::copy_engines, session.no_nccl_ce);
}

// What NCCL refuses of one row is left out, and the others run.
static Contestant made_or_left_out(const char* name, Workload& w, Contestant (*make)(Workload&)) {
  try {
    return make(w);
  } catch (const tools::AgreedError& e) {
    Contestant none{name, ""};
    none.refused = fmt::format("left out: {}", e.what());
    return none;
  }
}

std::vector<Contestant> baselines(const Options& o, Workload& w, bool allgather) {
  struct Entry {
    const char* name;
    Contestant (*allgather)(Workload&);
    Contestant (*reduce_scatter)(Workload&);
    const std::shared_ptr<Nccl>* nccl;  // what it needs, and why that is not there
    const std::string* no_nccl;
  };
  constexpr auto kernels = Carrier::kernels, engines = Carrier::copy_engines;
  const Session& gpu = *w.gpu;
  const Entry entries[] = {
      {"stock", [](Workload& x) { return stock_allgather(x, kernels, true); }, stock_reduce_scatter,
       &gpu.nccl, &gpu.no_nccl},
      {"copy-out", [](Workload& x) { return stock_allgather(x, kernels, false); }, nullptr,
       &gpu.nccl, &gpu.no_nccl},
      {"nccl", [](Workload& x) { return nccl_allgather(x, kernels); }, nccl_reduce_scatter,
       &gpu.nccl, &gpu.no_nccl},
      {"stock-ce", [](Workload& x) { return stock_allgather(x, engines, true); }, nullptr,
       &gpu.nccl_ce, &gpu.no_nccl_ce},
      {"nccl-ce", [](Workload& x) { return nccl_allgather(x, engines); }, nullptr, &gpu.nccl_ce,
       &gpu.no_nccl_ce},
      {"plain", plain_allgather, nullptr, nullptr, nullptr}};
  std::vector<Contestant> all;
  for (const Entry& e : entries) {
    const auto make = allgather ? e.allgather : e.reduce_scatter;
    const bool bound_of_late = o.skew_ms > 0 && e.nccl == nullptr;  // it waits for no rank
    if (make == nullptr || !o.has_baseline(e.name) || bound_of_late) continue;
    if (e.nccl != nullptr && !*e.nccl) {
      all.push_back({e.name, ""});
      all.back().refused = "left out: " + *e.no_nccl;
    } else {
      all.push_back(made_or_left_out(e.name, w, make));
    }
  }
  return all;
}

}  // namespace perf::gpu
