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
  int length = static_cast<int>(message.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, comm);
  if (length == 0) return;
  message.resize(length);
  MPI_Bcast(message.data(), length, MPI_CHAR, 0, comm);
  throw AgreedFailure(message);
}

}  // namespace train
