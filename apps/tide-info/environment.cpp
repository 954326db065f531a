// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "query.hpp"
#include "sections.hpp"

extern char** environ;

namespace info {
namespace {

using nlohmann::json;

const char* const table_key = "environment";

// The first of several spellings that an entry has.
std::string field(const json& entry, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (entry.contains(key)) return tools::words_of(entry[key]);
  return "";
}

json row_of(const std::string& name, const json& entry) {
  json row{{"name", name},
           {"meaning", ""},
           {"default", ""},
           {"value", ""},
           {"values", ""},
           {"problem", ""},
           {"forced", ""},
           {"missing", json::array()},
           {"environment_only", false}};
  if (entry.is_object()) {
    row["meaning"] = field(entry, {"meaning", "description", "help", "text"});
    row["default"] = field(entry, {"default", "default_value"});
    row["value"] = field(entry, {"value", "current"});
    row["problem"] = field(entry, {"problem"});
    row["forced"] = field(entry, {"forced"});
    const std::string values = field(entry, {"values"});
    if (values.find('|') != std::string::npos) row["values"] = values;
    row["environment_only"] = !entry.contains("info_key");
    row["missing"] = entry.value("not_in_this_version", json::array());
  } else {
    row["meaning"] = tools::words_of(entry);
  }
  const char* set = std::getenv(name.c_str());
  if (!row["forced"].get<std::string>().empty()) row["value"] = row["forced"];
  if (row["value"].get<std::string>().empty()) row["value"] = set != nullptr ? set : row["default"];
  row["set"] = set != nullptr && *set != '\0';
  return row;
}

// The library's table, as a list of entries with names or as an object of them.
std::vector<json> known_rows(const json& config) {
  std::vector<json> rows;
  if (!config.is_object() || !config.contains(table_key)) return rows;
  for (const auto& [key, entry] : config[table_key].items()) {
    std::string name = entry.is_object() ? field(entry, {"name", "variable"}) : "";
    if (name.empty()) name = key;
    rows.push_back(row_of(name, entry));
  }
  return rows;
}

std::vector<std::string> set_names() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (text.rfind("TIDE_", 0) == 0) names.push_back(text.substr(0, text.find('=')));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Breaks a text at blanks so that the last column stays within the terminal.
std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines{""};
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    at = end + 1;
  }
  return lines;
}

}  // namespace

json environment_section() {
  std::vector<json> rows = known_rows(tools::read_config());
  for (const std::string& name : set_names())
    if (std::none_of(rows.begin(), rows.end(), [&](const json& r) { return r["name"] == name; })) {
      json row = row_of(name, json::object());
      row["problem"] = "not a variable of this library: misspelt?";
      row["environment_only"] = false;
      rows.push_back(std::move(row));
    }
  return rows;
}

json config_section() {
  json config = tools::read_config();
  if (config.is_object()) config.erase(table_key);
  return config;
}

namespace {

// Values that are listed but do not work here, and what brings those that a build leaves out.
std::string left_out(const json& values) {
  std::string version, build;
  for (const json& value : values) {
    const std::string name = value.get<std::string>();
    if (name == "cuda" || name == "ucx")
      build += (build.empty() ? "not in this build: " : ", ") + name + " (-DTIDE_WITH_" +
               (name == "cuda" ? "CUDA" : "UCX") + "=ON)";
    else
      version += (version.empty() ? "not in this version: " : ", ") + name;
  }
  return version + (version.empty() || build.empty() ? "" : "; ") + build;
}

// Everything about a variable but its name and values, a problem first; each begins a line.
std::vector<std::string> remarks(const json& row, std::size_t width) {
  const std::string problem = row["problem"].get<std::string>();
  std::vector<std::string> lines;
  for (const std::string& text :
       {problem.empty() ? "" : "refused: " + problem,
        std::string(row["forced"].get<std::string>().empty() ? "" : "by TIDE_FORCE, which wins"),
        row["meaning"].get<std::string>(), row["values"].get<std::string>(),
        left_out(row["missing"]),
        std::string(row["environment_only"].get<bool>() ? "environment only" : "")})
    if (!text.empty())
      for (std::string& line : wrap(text, width)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::string environment_text(const json& rows) {
  if (rows.empty()) return "Environment: no TIDE_ variable is set, and the library names none\n";
  std::size_t name_width = 8, default_width = 7, value_width = 5;
  for (const json& row : rows) {
    name_width = std::max(name_width, row["name"].get<std::string>().size() + 1);
    default_width = std::max(default_width, row["default"].get<std::string>().size());
    value_width = std::max(value_width, row["value"].get<std::string>().size());
  }
  default_width = std::min<std::size_t>(default_width, 16);
  value_width = std::min<std::size_t>(value_width, 24);
  const auto line = [&](const std::string& name, const std::string& preset,
                        const std::string& value, const std::string& meaning) {
    return fmt::format("  {:<{}}  {:<{}}  {:<{}}  {}\n", name, name_width, preset, default_width,
                       value, value_width, meaning);
  };
  std::string text =
      "Environment (* set, ! set to what is refused); each is an info key too, in small letters,\n"
      "unless it says that it is of the environment only\n" +
      line("variable", "default", "value", "meaning");
  for (const json& row : rows) {
    const bool bad = !row["problem"].get<std::string>().empty();
    const std::string name = row["name"].get<std::string>() + (bad                      ? "!"
                                                               : row["set"].get<bool>() ? "*"
                                                                                        : "");
    const std::vector<std::string> meaning = remarks(row, 52);
    text += line(name, row["default"].get<std::string>(), row["value"].get<std::string>(),
                 meaning.front());
    for (std::size_t i = 1; i < meaning.size(); ++i) text += line("", "", "", meaning[i]);
  }
  return text;
}

}  // namespace info
