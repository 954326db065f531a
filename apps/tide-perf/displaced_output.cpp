// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "results.hpp"

// The table and the JSON of --displaced.
namespace perf {
namespace {

using nlohmann::json;

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double slowdown(const DisplacedRow& row) {
  return summarise(row.victim_beside).median / summarise(row.victim_alone).median - 1;
}

json counts_json(const Displaced& d) {
  return {{"blocks", d.blocks},
          {"displaced", d.displaced},
          {"displaced_share", share(d.displaced, d.blocks)},
          {"launches", d.launches},
          {"late_launches_share", share(d.late, d.launches)},
          {"delay_median_s", quantile(d.delays_s, 0.5)},
          {"delay_p90_s", quantile(d.delays_s, 0.9)}};
}

}  // namespace

std::string displaced_text(const Result& r) {
  if (r.displaced_rows.empty()) return "";
  std::string text = fmt::format(
      "  beside {}\n  {:<10} {:>9} {:>12} {:>9} {:>9} {:>7} {:>11} {:>12}\n", r.probe, "",
      "alone %", "displaced %", "delay us", "p90 us", "late %", "slowdown %", "beside GB/s");
  for (const DisplacedRow& row : r.displaced_rows) {
    if (!row.refused.empty()) {
      text += fmt::format("  {:<10} {}\n", row.name, row.refused);
      continue;
    }
    const Displaced& d = row.beside;
    text +=
        fmt::format("  {:<10} {:>9.3f} {:>12.3f} {:>9.1f} {:>9.1f} {:>7.2f} {:>11.2f} {:>12.2f}\n",
                    row.name, 100 * share(row.alone.displaced, row.alone.blocks),
                    100 * share(d.displaced, d.blocks), quantile(d.delays_s, 0.5) * 1e6,
                    quantile(d.delays_s, 0.9) * 1e6, 100 * share(d.late, d.launches),
                    100 * slowdown(row), summarise(row.bytes_per_s).median / 1e9);
  }
  return text + fmt::format(
                    "  displaced: the blocks that started more than {:g} us after they could have; "
                    "delay: theirs;\n"
                    "  late: launches whose first block did\n",
                    displaced_after_ns * 1e-3);
}

json displaced_json(const Result& r) {
  json rows = json::array();
  for (const DisplacedRow& row : r.displaced_rows) {
    json j{{"name", row.name}, {"what", row.what}};
    if (!row.refused.empty())
      j["left_out"] = row.refused;
    else
      j.update({{"probe", r.probe},
                {"alone", counts_json(row.alone)},
                {"beside", counts_json(row.beside)},
                {"slowdown", slowdown(row)},
                {"beside_bytes_per_s", summarise(row.bytes_per_s).median},
                {"victim_alone_s", row.victim_alone},
                {"victim_beside_s", row.victim_beside},
                {"beside_rates_bytes_per_s", row.bytes_per_s}});
    rows.push_back(std::move(j));
  }
  return rows;
}

}  // namespace perf
