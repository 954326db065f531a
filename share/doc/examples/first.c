/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
#include <mpix_tide.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPIX_Tide_param weight = {.rows = 4, .row_elems = 1, .dtype = MPIX_TIDE_FP32};
  MPIX_Tide_group group;
  MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &weight, MPI_INFO_NULL, &group);

  float mine[4], full[4], grad[4], sum[4]; /* on one rank the shard is all 4 rows */
  for (int row = 0; row < 4; ++row) mine[row] = grad[row] = rank + 1;
  void *shards[] = {mine}, *params[] = {full}, *grads[] = {grad}, *sums[] = {sum};
  MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards), params, group);
  MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads), sums, 0, MPIX_TIDE_SUM, 1.0, group);
  if (rank == 0) printf("row 0 of 4 is %g, its gradient sums to %g\n", full[0], sum[0]);

  MPIX_Tide_group_free(&group);
  MPI_Finalize();
  return 0;
}
