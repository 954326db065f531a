// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A failure that every rank knows of (tools::AgreedError): all leave in order, rank 0 speaks.  Any
// other exception is one rank's own and ends the job with MPI_Abort.
#pragma once
#include <mpi.h>

#include <functional>

#include "agreement.hpp"

namespace train {

using tools::AgreedError;

/// Collective: runs work on rank 0 and throws AgreedError on all ranks where it threw there.
void on_first_rank(MPI_Comm comm, const std::function<void()>& work);

}  // namespace train
