// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engines.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "sections.hpp"

namespace info {

#if !TIDE_INFO_CUDA
static std::vector<EngineRow> none(std::string&, std::string& why_not) {
  why_not = "this Tide was built without CUDA; configure it with -DTIDE_WITH_CUDA=ON";
  return {};
}
static constexpr auto probe_engines = none;
#endif

nlohmann::json engines_section() {
  std::string title, why_not;
  const std::vector<EngineRow> rows = probe_engines(title, why_not);
  if (rows.empty()) throw std::runtime_error("--engines: " + why_not);
  nlohmann::json section{{"device", title}, {"copies", nlohmann::json::array()}};
  for (const EngineRow& r : rows)
    section["copies"].push_back({{"form", r.form}, {"copy_engine", r.copy_engine}});
  return section;
}

std::string engines_text(const nlohmann::json& section) {
  std::string text = fmt::format("Engines: {}\n", section["device"].get<std::string>());
  for (const auto& row : section["copies"])
    text += fmt::format("  {:38}{}\n", row["form"].get<std::string>(),
                        row["copy_engine"].get<bool>() ? "copy engine" : "multiprocessors");
  return text + "  (what ended while every multiprocessor was taken)\n";
}

}  // namespace info
