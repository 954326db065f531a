// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Collective over comm; errors as mpix_tide.h states them.
#pragma once
#include <mpi.h>

#include <string>

#include "checkpoint/content.hpp"

namespace tide {

void save_checkpoint(MPI_Comm comm, const CheckpointArguments& arguments);
// Its metadata without Tide's own keys, as JSON.
std::string load_checkpoint(MPI_Comm comm, const CheckpointArguments& arguments);

}  // namespace tide
