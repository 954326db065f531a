// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a group would do and has done, as JSON: paths, rails, bytes, and why not a better one.
#pragma once
#include <string>

namespace tide {

class Group;
std::string report_text(Group& group);
std::string config_text();  // of the library: version, options, environment

}  // namespace tide
