// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "query.hpp"

namespace tools {
namespace {

using nlohmann::json;

// Asks for the size first; `ask(buffer, size, needed)` is one of the library's query calls.
template <class Ask>
json read_text(Ask ask) {
  std::size_t needed = 0;
  if (ask(nullptr, std::size_t{0}, &needed) != MPI_SUCCESS || needed == 0) return nullptr;
  std::string text(needed + 1, '\0');
  if (ask(text.data(), text.size(), &needed) != MPI_SUCCESS) return nullptr;
  json value = json::parse(text.c_str(), nullptr, false);
  return value.is_discarded() ? json(text.c_str()) : value;
}

}  // namespace

json read_config() {
  return read_text([](char* text, std::size_t size, std::size_t* needed) {
    return MPIX_Tide_get_config(text, size, needed);
  });
}

json read_group_report(MPIX_Tide_group group) {
  return read_text([group](char* text, std::size_t size, std::size_t* needed) {
    return MPIX_Tide_group_report(group, text, size, needed);
  });
}

std::string words_of(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_array()) return value.dump();
  std::string words;
  for (const json& item : value) words += (words.empty() ? "" : "; ") + words_of(item);
  return words;
}

}  // namespace tools
