// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Before a handler that aborts the job a log sink gets the whole message.
#include <cstdio>

#include "mpix_tide.h"

static void sink(int level, const char* line, void*) {
  std::printf("level %d: %s\n", level, line);
  std::fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPIX_Tide_set_log(sink, nullptr);
  const MPIX_Tide_param param[2] = {{4, 1, 0, MPIX_TIDE_FP32, 0}, {4, 1, 0, MPIX_TIDE_FP32, 0}};
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPIX_Tide_group_create(MPI_COMM_WORLD, rank == 0 ? 2 : 1, param, MPI_INFO_NULL, &group);
  return 0;  // not reached
}
