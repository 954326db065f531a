// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engines.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "sections.hpp"

namespace info {

#if !TIDE_INFO_CUDA
static EngineTable none() {
  EngineTable table;
  table.why_not = "this Tide was built without CUDA; configure it with -DTIDE_WITH_CUDA=ON";
  return table;
}
static constexpr auto probe_engines = none;
#endif

nlohmann::json engines_section() {
  const EngineTable table = probe_engines();
  if (table.rows.empty()) throw std::runtime_error("--engines: " + table.why_not);
  nlohmann::json section{
      {"device", table.device}, {"cupti", table.cupti}, {"copies", nlohmann::json::array()}};
  for (const EngineRow& r : table.rows)
    section["copies"].push_back(
        {{"form", r.form}, {"copy_engine", r.copy_engine}, {"cupti", r.cupti}});
  return section;
}

std::string engines_text(const nlohmann::json& section) {
  std::string text = fmt::format("Engines: {}\n", section["device"].get<std::string>());
  text += fmt::format("  {:38}{:18}{}\n", "", "seen", "CUPTI's record");
  for (const auto& row : section["copies"])
    text += fmt::format("  {:38}{:18}{}\n", row["form"].get<std::string>(),
                        row["copy_engine"].get<bool>() ? "copy engine" : "multiprocessors",
                        row["cupti"].get<std::string>());
  return text + fmt::format(
                    "  seen: a copy engine's is what ended while every multiprocessor was taken\n"
                    "  {}\n",
                    section["cupti"].get<std::string>());
}

}  // namespace info
