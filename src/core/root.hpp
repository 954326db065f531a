// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Whole parameters of one rank, to and from the shards of all: set-up of a model, not its steps.
#pragma once
#include "core/group.hpp"

namespace tide {

struct RootArguments {
  bool gather = false;  // to the root, else from it
  int root = 0;
  // In the shard type, whichever is read; params of the root only.
  void* const* params = nullptr;
  void* const* shards = nullptr;
  std::optional<Error> wrong;  // found already
};

// Collective over the group's communicator; bits are moved.
void move_root(Group& group, const RootArguments& arguments);

}  // namespace tide
