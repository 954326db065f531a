// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "results.hpp"

// The table and the JSON of --beside.
namespace perf {
namespace {

struct Figures {
  double alone_s, slowdown, p90_slowdown, beside_rate, alone_rate;
};

// Both slowdowns over the median of the victim alone.
Figures figures_of(const BesideRow& row, const Result& r) {
  const double alone = summarise(row.alone).median;
  return {alone, summarise(row.beside).median / alone - 1, quantile(row.beside, 0.9) / alone - 1,
          summarise(row.bytes_per_s).median,
          static_cast<double>(r.full_bytes) / summarise(row.call_alone).median};
}

}  // namespace

std::string beside_text(const Result& r) {
  std::string text, victim;
  for (const BesideRow& row : r.beside_rows) {
    if (row.victim != victim) {
      victim = row.victim;
      text += fmt::format(
          "  beside 200 GEMMs of {}\n  {:<10} {:>12} {:>9} {:>11} {:>8} {:>14} {:>11} {:>8}\n",
          victim, "", "GEMMs alone", "TFLOP/s", "slowdown %", "p90 %", "beside GB/s", "alone GB/s",
          "share %");
    }
    if (!row.refused.empty()) {
      text += fmt::format("  {:<10} {}\n", row.name, row.refused);
      continue;
    }
    const Figures f = figures_of(row, r);
    text += fmt::format(
        "  {:<10} {:>9.3f} ms {:>9.0f} {:>11.2f} {:>8.2f} {:>14.2f} {:>11.2f} {:>8.1f}\n", row.name,
        f.alone_s * 1e3, row.victim_flops / f.alone_s / 1e12, 100 * f.slowdown,
        100 * f.p90_slowdown, f.beside_rate / 1e9, f.alone_rate / 1e9,
        100 * f.beside_rate / f.alone_rate);
  }
  if (!text.empty())
    text +=
        "  slowdown of the GEMMs, the slowest rank's; GB/s of the list's bytes, calls back to "
        "back\n";
  return text;
}

nlohmann::json beside_json(const Result& r) {
  nlohmann::json rows = nlohmann::json::array();
  for (const BesideRow& row : r.beside_rows) {
    nlohmann::json j{{"victim", row.victim}, {"name", row.name}, {"what", row.what}};
    if (!row.refused.empty()) {
      j["left_out"] = row.refused;
    } else {
      const Figures f = figures_of(row, r);
      j.update({{"victim_flops", row.victim_flops},
                {"victim_alone_median_s", f.alone_s},
                {"slowdown", f.slowdown},
                {"slowdown_p90", f.p90_slowdown},
                {"beside_bytes_per_s", f.beside_rate},
                {"alone_bytes_per_s", f.alone_rate},
                {"victim_alone_s", row.alone},
                {"victim_beside_s", row.beside},
                {"beside_rates_bytes_per_s", row.bytes_per_s},
                {"call_alone_s", row.call_alone}});
    }
    rows.push_back(std::move(j));
  }
  return rows;
}

}  // namespace perf
