// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "results.hpp"

// The table and the JSON of --trace.
namespace perf {
namespace {

using nlohmann::json;

constexpr double mib = 1024.0 * 1024.0;

// Whole numbers as such; a median over calls of both kinds may lie between.
std::string count(double value) { return fmt::format("{:.6g}", value); }

json figures_json(const TraceFigures& f) {
  return {{"kernels", f[kernels]},
          {"copy_engine_copies", f[engine_copies]},
          {"copy_engine_bytes", f[engine_bytes]},
          {"multiprocessor_copies", f[sm_copies]},
          {"multiprocessor_copy_bytes", f[sm_bytes]},
          {"copy_engine_memsets", f[engine_sets]},
          {"multiprocessor_memsets", f[sm_sets]},
          {"multiprocessor_s", f[sm_s]},
          {"kernel_multiprocessor_s", f[kernel_sm_s]},
          {"traced_call_s", f[call_s]}};
}

}  // namespace

std::string trace_text(const Result& r) {
  if (r.trace_rows.empty()) return "";
  std::string text = fmt::format(
      "  {:<10} {:>8} {:>10} {:>9} {:>10} {:>9} {:>11} {:>9} {:>11} {:>10}\n", "", "kernels",
      "CE copies", "MiB", "SM copies", "MiB", "memsets", "SM-ms", "of kernels", "traced ms");
  for (const TraceRow& row : r.trace_rows) {
    if (!row.refused.empty()) {
      text += fmt::format("  {:<10} {}\n", row.name, row.refused);
      continue;
    }
    const TraceFigures& f = row.busiest;
    text += fmt::format(
        "  {:<10} {:>8} {:>10} {:>9.2f} {:>10} {:>9.2f} {:>11} {:>9.3f} {:>11.3f} {:>10.3f}\n",
        row.name, count(f[kernels]), count(f[engine_copies]), f[engine_bytes] / mib,
        count(f[sm_copies]), f[sm_bytes] / mib,
        fmt::format("{} CE, {} SM", count(f[engine_sets]), count(f[sm_sets])), f[sm_s] * 1e3,
        f[kernel_sm_s] * 1e3, f[call_s] * 1e3);
  }
  return text +
         "  of one call, medians, the busiest rank's.  CE: copy engine, SM: multiprocessors, as "
         "CUPTI\n"
         "  names them.  SM-ms: milliseconds times the multiprocessors that a kernel can hold (its "
         "blocks,\n"
         "  at most all; a copy or memset of theirs: all), never more than all at a time\n";
}

json trace_json(const Result& r) {
  json rows = json::array();
  for (const TraceRow& row : r.trace_rows) {
    json j{{"name", row.name}, {"what", row.what}};
    if (!row.refused.empty()) {
      j["left_out"] = row.refused;
    } else {
      j["busiest_rank"] = figures_json(row.busiest);
      j["ranks"] = json::array();
      for (const TraceFigures& f : row.ranks) j["ranks"].push_back(figures_json(f));
      j["kernel_names"] = row.kernel_names;
    }
    rows.push_back(std::move(j));
  }
  return rows;
}

}  // namespace perf
