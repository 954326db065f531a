// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a binding has told of the call that this thread makes next (tide_bindings.h).
#pragma once
#include <optional>

#include "core/error.hpp"
#include "core/group.hpp"
#include "core/status.hpp"
#include "tide_bindings.h"

namespace tide {

struct Arguments;

struct NextLists {
  std::optional<MPIX_Tide_arrays> inputs, outputs;
};
struct NextLengths {
  MPI_Count array = -1, first_row = -1;
};

// Each can be taken once.
NextLists take_lists();
NextLengths take_lengths();

// What a binding found wrong with the call, the first of it; can be taken once.
std::optional<Error> take_wrong();

// Compares with the group's parameters.  A list of another length is taken away.
void compare(const Group& group, const NextLists& lists, Arguments& arguments);

// Of a list of shards, or of results in any type: what does not fit.
Status compare_shards(const Group& group, const MPIX_Tide_arrays& shards);
Status compare_results(const Group& group, const MPIX_Tide_arrays& results);
bool may_hold(int type, Dtype dtype);  // an array of this type, 0: not known

}  // namespace tide
