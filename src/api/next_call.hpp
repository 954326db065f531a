// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a binding has told of the call that this thread makes next (tide_bindings.h).  Each can be
// taken once.
#pragma once
#include "core/told_lists.hpp"

namespace tide {

struct NextLengths {
  MPI_Count array = -1, first_row = -1;
};

ToldLists take_lists();
NextLengths take_lengths();
// The first that the binding found wrong.
std::optional<WrongList> take_wrong_list();
std::optional<Error> take_wrong();

}  // namespace tide
