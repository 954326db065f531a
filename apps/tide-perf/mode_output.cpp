// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "results.hpp"

// The tables and the JSON of --overlap and --skew.
namespace perf {
namespace {

using nlohmann::json;

constexpr double mib = 1024.0 * 1024.0;

// Of a time; a skew of almost nothing has no percentage.
std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f}", 100 * part / whole) : "-";
}

template <class Row>
json row_head(const Row& row) {
  json j{{"name", row.name}, {"what", row.what}};
  if (!row.refused.empty()) j["left_out"] = row.refused;
  return j;
}

std::string inputs_text(const Result& r) {
  if (r.inputs_rows.empty()) return "";
  std::string text =
      fmt::format("  gradients are free after (wait_inputs)\n  {:<12} {:>13} {:>10} {:>10} {:>9}\n",
                  "workspace", "MiB", "inputs ms", "whole ms", "share %");
  for (const InputsRow& row : r.inputs_rows) {
    if (!row.refused.empty())
      text += fmt::format("  {:<12} {}\n", row.asked, row.refused);
    else
      text += fmt::format("  {:<12} {:>13.3f} {:>10.3f} {:>10.3f} {:>9.1f}\n", row.asked,
                          static_cast<double>(row.workspace_bytes) / mib,
                          summarise(row.inputs).median * 1e3, summarise(row.whole).median * 1e3,
                          100 * row.share);
  }
  return text;
}

}  // namespace

std::string overlap_text(const Result& r) {
  if (r.overlap_rows.empty()) return "";
  std::string text = fmt::format("  {:<12} {:>10} {:<8} {:>11} {:>13} {:>9}\n", "", "alone ms",
                                 "  behind", "compute ms", "overlapped ms", "hidden %");
  for (const OverlapRow& row : r.overlap_rows) {
    if (!row.refused.empty()) text += fmt::format("  {:<12} {}\n", row.name, row.refused);
    for (const OverlapKernel& k : row.kernels)
      text += fmt::format("  {:<12} {:>10.3f}   {:<6} {:>11.3f} {:>13.3f} {:>9.1f}\n", row.name,
                          row.alone_s * 1e3, k.name, k.compute_s * 1e3, k.overlapped_s * 1e3,
                          100 * k.hidden);
  }
  return text + inputs_text(r);
}

std::string skew_text(const Result& r) {
  if (r.skew_rows.empty()) return "";
  std::string text = fmt::format("  {:<12} {:>10} {:>13} {:>11} {:>10} {:>13}\n", "", "total ms",
                                 "last rank ms", "surplus ms", "surplus %", "no skew ms");
  for (const SkewRow& row : r.skew_rows) {
    if (!row.refused.empty())
      text += fmt::format("  {:<12} {}\n", row.name, row.refused);
    else
      text += fmt::format("  {:<12} {:>10.3f} {:>13.3f} {:>11.3f} {:>10} {:>13.3f}\n", row.name,
                          row.total_s * 1e3, row.arrival_s * 1e3, row.surplus_s * 1e3,
                          percent(row.surplus_s, row.arrival_s), row.prompt_s * 1e3);
  }
  return text + "  surplus: from the last rank's arrival to the last rank's return\n";
}

json overlap_json(const Result& r) {
  json rows = json::array();
  for (const OverlapRow& row : r.overlap_rows) {
    json j = row_head(row);
    if (row.refused.empty()) {
      j["median_s"] = row.alone_s;
      j["samples_s"] = row.alone;
      for (const OverlapKernel& k : row.kernels)
        j["behind"].push_back({{"computation", k.name},
                               {"slices", k.slices},
                               {"compute_median_s", k.compute_s},
                               {"overlapped_median_s", k.overlapped_s},
                               {"hidden_share", k.hidden},
                               {"compute_s", k.compute},
                               {"overlapped_s", k.overlapped}});
    }
    rows.push_back(std::move(j));
  }
  return rows;
}

json inputs_json(const Result& r) {
  json rows = json::array();
  for (const InputsRow& row : r.inputs_rows) {
    json j{{"tide_workspace_bytes", row.asked}};
    if (!row.refused.empty())
      j["left_out"] = row.refused;
    else
      j.update({{"workspace_bytes", row.workspace_bytes},
                {"inputs_share", row.share},
                {"inputs_s", row.inputs},
                {"whole_s", row.whole}});
    rows.push_back(std::move(j));
  }
  return rows;
}

json skew_json(const Result& r) {
  json rows = json::array();
  for (const SkewRow& row : r.skew_rows) {
    json j = row_head(row);
    if (row.refused.empty())
      j.update({{"median_s", row.total_s},
                {"last_arrival_median_s", row.arrival_s},
                {"surplus_median_s", row.surplus_s},
                {"no_skew_median_s", row.prompt_s},
                {"samples_s", row.total},
                {"last_arrival_s", row.arrival},
                {"no_skew_s", row.prompt}});
    rows.push_back(std::move(j));
  }
  return rows;
}

}  // namespace perf
