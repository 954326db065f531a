/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* A user's program: gathers a list of two parameters.  Started by two processes. */
#include <mpix_tide.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPIX_Tide_param params[2] = {{5, 3, 0, MPIX_TIDE_FP32, 0}, {2, 4, 0, MPIX_TIDE_FP32, 0}};
  MPIX_Tide_group group;
  void *full[2], *base;
  float* value;
  int p, size, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPIX_Tide_group_create(MPI_COMM_WORLD, 2, params, MPI_INFO_NULL, &group);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_FULL, 0, MPI_INFO_NULL, full, &base);
  for (p = 0; p < 2; ++p) {
    MPI_Count first, rows, i;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPIX_Tide_group_shard(group, p, rank, &first, &rows);
    for (i = first * params[p].row_elems; i < (first + rows) * params[p].row_elems; ++i)
      ((float*)full[p])[i] = (float)(100 * p + i);
  }
  MPIX_Tide_allgather(MPIX_TIDE_IN_PLACE, full, group);
  for (p = 0; p < 2; ++p) {
    MPI_Count i;
    value = (float*)full[p];
    for (i = 0; i < params[p].rows * params[p].row_elems; ++i)
      wrong += value[i] != (float)(100 * p + i);
  }
  MPIX_Tide_free(MPI_COMM_NULL, base);
  MPIX_Tide_group_free(&group);
  MPI_Finalize();
  printf("%d ranks, %d wrong\n", size, wrong);
  return wrong != 0 || size != 2;
}
