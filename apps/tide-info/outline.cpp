// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "query.hpp"
#include "sections.hpp"

namespace info {
namespace {

using nlohmann::json;

std::string spoken(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

// Objects, and arrays of objects, open a level; everything else fits on its line.
bool has_levels(const json& value) {
  return value.is_object() ||
         (value.is_array() && std::any_of(value.begin(), value.end(),
                                          [](const json& item) { return item.is_object(); }));
}

}  // namespace

std::string outline(const json& value, int indent) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  if (value.is_null()) return margin + "the library tells nothing\n";
  if (!has_levels(value)) return margin + tools::words_of(value) + "\n";
  std::size_t width = 0;
  for (const auto& [key, item] : value.items())
    if (!has_levels(item)) width = std::max(width, key.size());
  std::string text;
  for (const auto& [key, item] : value.items())
    if (!has_levels(item) && !tools::words_of(item).empty())
      text += fmt::format("{}{:<{}}  {}\n", margin, spoken(key), width, tools::words_of(item));
  for (const auto& [key, item] : value.items())
    if (has_levels(item)) text += margin + spoken(key) + "\n" + outline(item, indent + 2);
  return text;
}

std::string config_text(const json& config) { return "Configuration\n" + outline(config, 2); }

}  // namespace info
