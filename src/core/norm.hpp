// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The Euclidean norm of what is sharded over a communicator.
#pragma once
#include <mpi.h>

#include <memory>
#include <optional>
#include <vector>

#include "core/error.hpp"
#include "core/group.hpp"

namespace tide {

struct NormArguments {
  void* const* const* shards = nullptr;
  int dtype = 0;
  bool has_output = true;
  std::vector<std::shared_ptr<Group>> groups;
  std::optional<Error> wrong;  // found already
};

// Collective over the communicator.
double norm_of(MPI_Comm shard, const NormArguments& arguments);

// In fp64: eight interleaved partial sums, added pairwise.  The same on every machine.
double sum_of_squares(const void* data, Dtype dtype, size_t elems);

}  // namespace tide
