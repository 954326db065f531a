// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The environment's TIDE_FORCE=x=value,...: by key, with its tide_.
#pragma once
#include <map>
#include <string>

namespace tide {

std::map<std::string, std::string> forced();  // Error{arg} where it is not of that form

}  // namespace tide
