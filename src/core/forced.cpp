// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/forced.hpp"

#include <cstdlib>
#include <sstream>

#include "core/error.hpp"

namespace tide {

std::map<std::string, std::string> forced() {
  std::map<std::string, std::string> result;
  const char* text = std::getenv("TIDE_FORCE");
  std::istringstream list(text ? text : "");
  for (std::string item; std::getline(list, item, ',');) {
    const size_t equal = item.find('=');
    if (equal == std::string::npos)
      throw Error(
          Kind::arg,
          "TIDE_FORCE: '{}' is not of the form x=value; write for example TIDE_FORCE=order=rank",
          item);
    result["tide_" + item.substr(0, equal)] = item.substr(equal + 1);
  }
  return result;
}

}  // namespace tide
