// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

// Failures that all ranks see together, so that none waits for a rank that gave up.
namespace tools {

/// Thrown on all ranks with the same text: the program ends with MPI_Finalize and exit code 1.
struct AgreedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Collective over comm.  `problem` is this rank's failure, empty if none.  Where any rank has one,
/// throws AgreedError on all ranks with the text of the lowest such rank.
void agree(MPI_Comm comm, const std::string& problem);

/// Throws with MPIX_Tide_error_message() unless `code` is MPI_SUCCESS.
void check_tide(int code, const char* call);

/// The text of check_tide's exception, empty on success: for agree().
std::string tide_problem(int code, const char* call);

}  // namespace tools
