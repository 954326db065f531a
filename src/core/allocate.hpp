// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// MPIX_Tide_alloc's work: memory that all ranks of a node map.
#pragma once
#include <mpi.h>

#include <cstddef>

#include "core/context.hpp"

namespace tide {

// Collective.  The user's address on this rank; null for 0 bytes.
void* allocate(Context& context, int64_t bytes, MPI_Info info);
// Local.  Error{arg} where the address is not the start of such memory.
void release(void* base);

}  // namespace tide
