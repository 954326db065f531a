// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "pace.hpp"
#include "results.hpp"

// The table and the JSON of --beside.
namespace perf {
namespace {

struct Figures {
  double alone_s, slowdown, p90_slowdown, beside_rate, alone_rate, delivered_rate;
  double calls;  // that start at the asked rate while the victim runs
};

// Both slowdowns over the median of the victim alone.
Figures figures_of(const BesideRow& row, const Result& r) {
  const double alone = summarise(row.alone).median, rate = summarise(row.bytes_per_s).median;
  const double delivered = static_cast<double>(r.full_bytes) * r.bus_share;  // by one call
  return {alone,
          summarise(row.beside).median / alone - 1,
          quantile(row.beside, 0.9) / alone - 1,
          rate,
          static_cast<double>(r.full_bytes) / summarise(row.call_alone).median,
          rate * r.bus_share,
          alone * row.asked_bytes_per_s / delivered};
}

std::string head(const BesideRow& row) {
  const std::string columns =
      row.asked_bytes_per_s > 0
          ? fmt::format("{:>11} {:>14}", "asked GB/s", "delivered GB/s")
          : fmt::format("{:>14} {:>11} {:>8}", "beside GB/s", "alone GB/s", "share %");
  return fmt::format("  beside 200 GEMMs of {}\n  {:<10} {:>12} {:>9} {:>11} {:>8} {}\n",
                     row.victim, "", "GEMMs alone", "TFLOP/s", "slowdown %", "p90 %", columns);
}

const char* rate_note(const BesideRow& row, const Figures& f) {
  if (!keeps(f.delivered_rate, row.asked_bytes_per_s)) return "  cannot keep the rate";
  return f.calls < 5 ? "  fewer than 5 calls beside the GEMMs; use a smaller list" : "";
}

std::string rates_text(const BesideRow& row, const Figures& f) {
  if (row.asked_bytes_per_s == 0)
    return fmt::format("{:>14.2f} {:>11.2f} {:>8.1f}", f.beside_rate / 1e9, f.alone_rate / 1e9,
                       100 * f.beside_rate / f.alone_rate);
  return fmt::format("{:>11.2f} {:>14.2f}{}", row.asked_bytes_per_s / 1e9, f.delivered_rate / 1e9,
                     rate_note(row, f));
}

}  // namespace

std::string beside_text(const Result& r) {
  std::string text, victim;
  for (const BesideRow& row : r.beside_rows) {
    if (row.victim != victim) text += head(row);
    victim = row.victim;
    if (!row.refused.empty()) {
      text += fmt::format("  {:<10} {}\n", row.name, row.refused);
      continue;
    }
    const Figures f = figures_of(row, r);
    text += fmt::format("  {:<10} {:>9.3f} ms {:>9.0f} {:>11.2f} {:>8.2f} {}\n", row.name,
                        f.alone_s * 1e3, row.victim_flops / f.alone_s / 1e12, 100 * f.slowdown,
                        100 * f.p90_slowdown, rates_text(row, f));
  }
  if (text.empty()) return "";
  return text + "  slowdown of the GEMMs, the slowest rank's; " +
         (r.beside_rows.front().asked_bytes_per_s > 0
              ? "GB/s that a rank receives of the others' inputs\n"
              : "GB/s of the list's bytes, calls back to back\n");
}

nlohmann::json beside_json(const Result& r) {
  nlohmann::json rows = nlohmann::json::array();
  for (const BesideRow& row : r.beside_rows) {
    nlohmann::json j{{"victim", row.victim}, {"name", row.name}, {"what", row.what}};
    const double asked = row.asked_bytes_per_s;
    if (asked > 0) j["asked_bytes_per_s"] = asked;
    if (!row.refused.empty()) {
      j["left_out"] = row.refused;
      rows.push_back(std::move(j));
      continue;
    }
    const Figures f = figures_of(row, r);
    j.update({{"victim_flops", row.victim_flops},
              {"victim_alone_median_s", f.alone_s},
              {"slowdown", f.slowdown},
              {"slowdown_p90", f.p90_slowdown},
              {"beside_bytes_per_s", f.beside_rate},
              {"delivered_bytes_per_s", f.delivered_rate},
              {"victim_alone_s", row.alone},
              {"victim_beside_s", row.beside},
              {"beside_rates_bytes_per_s", row.bytes_per_s}});
    if (asked > 0)
      j["keeps_rate"] = keeps(f.delivered_rate, asked);
    else
      j.update({{"alone_bytes_per_s", f.alone_rate}, {"call_alone_s", row.call_alone}});
    rows.push_back(std::move(j));
  }
  return rows;
}

}  // namespace perf
