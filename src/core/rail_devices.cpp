// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rail_devices.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace tide {
namespace {

std::vector<std::string> split(const std::string& text, const char* separators) {
  std::vector<std::string> items;
  for (size_t at = 0;;) {
    const size_t end = text.find_first_of(separators, at);
    items.push_back(text.substr(at, end - at));
    if (end == std::string::npos) return items;
    at = end + 1;
  }
}

bool is_device_name(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string("_-.:@/").find(c) != std::string::npos;
  });
}

}  // namespace

std::vector<std::vector<std::string>> parse_rail_devices(const std::string& text) {
  std::vector<std::vector<std::string>> ranks;
  if (text.empty()) return ranks;
  for (const std::string& item : split(text, ",;")) {
    const auto refuse = [&](const std::string& why) {
      throw Error(Kind::arg,
                  "tide_rail_devices (TIDE_RAIL_DEVICES): item {} of '{}', '{}', {}; write the "
                  "devices of local ranks 0, 1, ... as in mlx5_0,mlx5_1 or mlx5_0+mlx5_1,mlx5_2",
                  ranks.size() + 1, text, item, why);
    };
    const std::vector<std::string> devices = split(item, "+");
    if (devices.size() > most_rail_devices)
      refuse(fmt::format("names {} devices, of which a rank uses {} at most", devices.size(),
                         most_rail_devices));
    for (size_t d = 0; d < devices.size(); d++) {
      if (devices[d].empty()) refuse(item.empty() ? "is empty" : "has an empty name beside a +");
      if (!is_device_name(devices[d])) refuse("has a character that no device name has");
      if (std::find(devices.begin(), devices.begin() + static_cast<ptrdiff_t>(d), devices[d]) !=
          devices.begin() + static_cast<ptrdiff_t>(d))
        refuse("names a device twice");
    }
    ranks.push_back(devices);
  }
  return ranks;
}

}  // namespace tide
