// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpix_tide.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "param_list.hpp"

namespace perf {

/// Info keys and their values.
using Keys = std::vector<std::pair<std::string, std::string>>;

/// Owns a group; freed with its last copy.
using Group = std::shared_ptr<MPIX_Tide_group_s>;

/// A group of the list with info keys.  Collective; throws AgreedError on all ranks.  Where
/// `refused` is given, words of the library that refuse a key's value on all ranks go there and the
/// result is empty.
Group make_group(MPI_Comm comm, const ParamList& list, const Keys& keys = {},
                 std::string* refused = nullptr);

}  // namespace perf
