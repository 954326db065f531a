// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "agreement.hpp"

#include <fmt/format.h>
#include <mpix_tide.h>

namespace tools {

void agree(MPI_Comm comm, const std::string& problem) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int mine = problem.empty() ? ranks : rank;
  int first = ranks;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == ranks) return;
  std::string text = problem;
  auto bytes = static_cast<int>(text.size());
  MPI_Bcast(&bytes, 1, MPI_INT, first, comm);
  text.resize(static_cast<std::size_t>(bytes));
  MPI_Bcast(text.data(), bytes, MPI_CHAR, first, comm);
  throw AgreedError(text);
}

std::string tide_problem(int code, const char* call) {
  if (code == MPI_SUCCESS) return "";
  const char* message = MPIX_Tide_error_message();
  return fmt::format("{}: {}", call, message != nullptr && *message ? message : "failed");
}

void check_tide(int code, const char* call) {
  if (code != MPI_SUCCESS) throw std::runtime_error(tide_problem(code, call));
}

}  // namespace tools
