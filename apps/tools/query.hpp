// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpix_tide.h>

#include <nlohmann/json.hpp>
#include <string>

// The library's query calls, whose texts are JSON with keys that grow: readers take what is there.
namespace tools {

/// MPIX_Tide_get_config and MPIX_Tide_group_report.  null where the call fails, a JSON string where
/// the text is not JSON.
nlohmann::json read_config();
nlohmann::json read_group_report(MPIX_Tide_group group);

/// A value in one line without quotes; the items of an array are joined with "; ".
std::string words_of(const nlohmann::json& value);

}  // namespace tools
