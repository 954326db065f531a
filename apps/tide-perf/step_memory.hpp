// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "param_list.hpp"

namespace perf {

/// A table of what pipelines of these lists (bf16, one is a layer) take beyond the live layer, at
/// 8, 16 and 64 ranks, beside FSDP2's rule.  Planned, not measured: no job is looked at.
std::string step_memory_text(const std::vector<ParamList>& lists);

}  // namespace perf
