// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A failure that every rank knows of: all leave in order, rank 0 speaks.  Any other exception is
// one rank's own and ends the job with MPI_Abort.
#pragma once
#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace train {

struct AgreedFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Collective: runs work on rank 0 and throws AgreedFailure on all ranks where it threw there.
void on_first_rank(MPI_Comm comm, const std::function<void()>& work);

}  // namespace train
