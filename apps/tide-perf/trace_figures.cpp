// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "trace_figures.hpp"

#include <algorithm>
#include <map>

namespace perf {

double occupied_s(const std::vector<Occupied>& spans, std::int64_t there_are) {
  std::map<std::uint64_t, std::int64_t> changes;  // at a time, of the multiprocessors asked for
  for (const Occupied& s : spans) {
    if (s.end_ns <= s.begin_ns) continue;
    changes[s.begin_ns] += s.multiprocessors;
    changes[s.end_ns] -= s.multiprocessors;
  }
  double ns = 0;
  std::uint64_t since = 0;
  std::int64_t asked = 0;
  for (const auto& [at, change] : changes) {
    ns += static_cast<double>(at - since) * static_cast<double>(std::min(asked, there_are));
    asked += change;
    since = at;
  }
  return ns * 1e-9;
}

TraceFigures figures_of(const std::vector<tools::Activity>& activities,
                        std::int64_t multiprocessors) {
  using tools::Activity;
  TraceFigures f{};
  std::map<std::uint32_t, std::vector<Occupied>> all, of_kernels;  // by device
  for (const Activity& a : activities) {
    const auto bytes = static_cast<double>(a.bytes);
    if (a.kind == Activity::kernel) {
      const auto blocks = std::min(static_cast<std::int64_t>(a.blocks), multiprocessors);
      f[kernels] += 1;
      of_kernels[a.device].push_back({a.begin_ns, a.end_ns, blocks});
      all[a.device].push_back({a.begin_ns, a.end_ns, blocks});
      continue;
    }
    if (a.kind == Activity::set) {
      f[a.copy_engine ? engine_sets : sm_sets] += 1;
    } else {
      f[a.copy_engine ? engine_copies : sm_copies] += 1;
      f[a.copy_engine ? engine_bytes : sm_bytes] += bytes;
    }
    if (!a.copy_engine) all[a.device].push_back({a.begin_ns, a.end_ns, multiprocessors});
  }
  for (const auto& [device, spans] : all) f[sm_s] += occupied_s(spans, multiprocessors);
  for (const auto& [device, spans] : of_kernels)
    f[kernel_sm_s] += occupied_s(spans, multiprocessors);
  return f;
}

}  // namespace perf
