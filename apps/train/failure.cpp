// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "failure.hpp"

namespace train {

void on_first_rank(MPI_Comm comm, const std::function<void()>& work) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  std::string message;
  if (rank == 0) {
    try {
      work();
    } catch (const std::exception& error) {
      message = error.what();
      if (message.empty()) message = "unknown failure";
    }
  }
  tools::agree(comm, message);
}

}  // namespace train
