// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a pipeline is made from, read from the user's structure, and agreed upon by all ranks.
#pragma once
#include <memory>
#include <vector>

#include "mpix_tide.h"
#include "pipeline/storage.hpp"

namespace tide {

struct PipelineDescription {
  std::vector<std::shared_ptr<Group>> groups;
  std::vector<Pieces> params, grads;  // by layer
  PipelineShape shape;
  InfoValues info;
};

// Local; Error{arg, count, unsupported} names layer, field and remedy.  groups: null where a handle
// is not a live group.
PipelineDescription read_description(const MPIX_Tide_schedule& schedule,
                                     const std::vector<std::shared_ptr<Group>>& groups,
                                     MPI_Info info);

// Collective, inside a Setup: Error{mismatch} on all ranks where a rank's differs from rank 0's.
void compare_descriptions(Context& context, const PipelineDescription& mine);

}  // namespace tide
