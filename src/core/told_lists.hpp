// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a binding knows of the arrays that it passes (tide_bindings.h), compared with the group's
// parameters.
#pragma once
#include <optional>

#include "core/call.hpp"
#include "core/error.hpp"
#include "tide_bindings.h"

namespace tide {

struct ToldLists {  // of one call
  std::optional<MPIX_Tide_arrays> inputs, outputs;
};

// Of a collective: what does not fit goes into arguments.wrong.  A list of another length is taken
// away.
void compare(const Group& group, const ToldLists& lists, Arguments& arguments);
// Of a list of shards, or of results in any type.
Status compare_shards(const Group& group, const MPIX_Tide_arrays& shards);
Status compare_results(const Group& group, const MPIX_Tide_arrays& results);
bool may_hold(int type, Dtype dtype);  // an array of this type, 0: not known

struct WrongList {
  Error error;
  int param = -1;
};
// Of shards, or of all rows in the shard type (dtype: another type of all); for calls that tell
// errors as text.
std::optional<WrongList> compare_whole(const Group& group, bool all_rows, int dtype,
                                       bool skip_nograd, const MPIX_Tide_arrays& list);

}  // namespace tide
