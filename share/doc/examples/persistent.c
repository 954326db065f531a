/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests: buffers and lists are given once, each step only starts them.  Gradients
   may be overwritten as soon as they have been read, before the sums have arrived. */
#include <mpix_tide.h>
#include <stdio.h>

enum { ROWS = 96, COLS = 16, STEPS = 5 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  const MPIX_Tide_param weight = {.rows = ROWS, .row_elems = COLS, .dtype = MPIX_TIDE_FP32};
  MPIX_Tide_group group;
  MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &weight, MPI_INFO_NULL, &group);
  void *grad, *sum, *base[2];
  MPIX_Tide_group_alloc(group, MPIX_TIDE_GRAD, 0, MPI_INFO_NULL, &grad, &base[0]);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_SHARD, 0, MPI_INFO_NULL, &sum, &base[1]);

  MPIX_Tide_request reduce;
  MPIX_Tide_reduce_scatter_init(MPIX_TIDE_INPUTS(&grad), &sum, 0, MPIX_TIDE_SUM, 1.0, group,
                                MPI_INFO_NULL, &reduce);
  MPI_Count row, rows;
  MPIX_Tide_group_shard(group, 0, rank, &row, &rows);
  int wrong = 0;
  float loss_scale = 1;
  for (int i = 0; i < ROWS * COLS; ++i) ((float*)grad)[i] = loss_scale;
  for (int step = 0; step < STEPS; ++step) {
    MPIX_Tide_request_set(reduce, MPIX_TIDE_SUM, 1.0 / loss_scale); /* inactive: may be changed */
    MPIX_Tide_start(&reduce);
    MPIX_Tide_wait_inputs(&reduce); /* all peers have read grad: write the next step's */
    loss_scale *= 2;
    for (int i = 0; i < ROWS * COLS; ++i) ((float*)grad)[i] = loss_scale;
    MPIX_Tide_wait(&reduce); /* sum is complete; the request stays, inactive */
    for (MPI_Count i = 0; i < rows * COLS; ++i) wrong += ((float*)sum)[i] != (float)size;
  }
  MPIX_Tide_request_free(&reduce);

  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("persistent: %d wrong sums\n", wrong);
  MPIX_Tide_group_free(&group);
  MPIX_Tide_free(MPI_COMM_WORLD, base[0]);
  MPIX_Tide_free(MPI_COMM_WORLD, base[1]);
  MPI_Finalize();
  return wrong != 0;
}
