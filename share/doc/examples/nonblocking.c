/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* Two layers: while one is computed the next one is gathered, and while a gradient is summed the
   one before it is computed.  The guide explains it. */
#include <mpix_tide.h>
#include <stdio.h>

enum { LAYERS = 4, ROWS = 64, COLS = 32, STEPS = 3 };

static void check(int code, const char* call) { /* not reached with MPI's default error handler */
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", call, MPIX_Tide_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Stands for a layer's forward or backward pass: work in pieces, and between two pieces a test,
   which lets the operation in progress get on.  A test of a null request costs next to nothing. */
static void compute(const float* weight, float* grad, int rank, MPIX_Tide_request* in_progress) {
  for (int row = 0; row < ROWS; ++row) {
    int done;
    for (int c = 0; c < COLS; ++c)
      if (grad) grad[row * COLS + c] = weight[row * COLS + c] + (float)rank;
    if (row % 8 == 0) check(MPIX_Tide_test(in_progress, &done), "MPIX_Tide_test");
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  /* A group per layer: one group has at most one operation in progress. */
  const MPIX_Tide_param weight = {.rows = ROWS, .row_elems = COLS, .dtype = MPIX_TIDE_FP32};
  MPIX_Tide_group group[LAYERS];
  void *shard[LAYERS], *full[LAYERS], *grad[LAYERS], *sum[LAYERS], *base[4 * LAYERS];
  for (int l = 0; l < LAYERS; ++l) {
    check(MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &weight, MPI_INFO_NULL, &group[l]), "create");
    MPIX_Tide_group_alloc(group[l], MPIX_TIDE_SHARD, 0, MPI_INFO_NULL, &shard[l], &base[4 * l]);
    MPIX_Tide_group_alloc(group[l], MPIX_TIDE_FULL, 0, MPI_INFO_NULL, &full[l], &base[4 * l + 1]);
    MPIX_Tide_group_alloc(group[l], MPIX_TIDE_GRAD, 0, MPI_INFO_NULL, &grad[l], &base[4 * l + 2]);
    MPIX_Tide_group_alloc(group[l], MPIX_TIDE_SHARD, 0, MPI_INFO_NULL, &sum[l], &base[4 * l + 3]);
    MPI_Count row, rows;
    MPIX_Tide_group_shard(group[l], 0, rank, &row, &rows);
    for (MPI_Count i = 0; i < rows * COLS; ++i) ((float*)shard[l])[i] = (float)l;
  }

  int wrong = 0;
  for (int step = 0; step < STEPS; ++step) {
    /* Forward: layer l + 1 is on its way while layer l is computed. */
    MPIX_Tide_request gather[LAYERS + 1];
    for (int l = 0; l <= LAYERS; ++l) gather[l] = MPIX_TIDE_REQUEST_NULL;
    check(MPIX_Tide_iallgather(MPIX_TIDE_INPUTS(&shard[0]), &full[0], group[0], &gather[0]),
          "MPIX_Tide_iallgather");
    for (int l = 0; l < LAYERS; ++l) {
      check(MPIX_Tide_wait(&gather[l]), "MPIX_Tide_wait");
      if (l + 1 < LAYERS)
        check(MPIX_Tide_iallgather(MPIX_TIDE_INPUTS(&shard[l + 1]), &full[l + 1], group[l + 1],
                                   &gather[l + 1]),
              "MPIX_Tide_iallgather");
      compute(full[l], NULL, rank, &gather[l + 1]);
    }
    /* Backward: layer l + 1's gradient is summed while layer l's is computed. */
    MPIX_Tide_request reduce = MPIX_TIDE_REQUEST_NULL;
    for (int l = LAYERS - 1; l >= 0; --l) {
      compute(full[l], grad[l], rank, &reduce);
      check(MPIX_Tide_wait(&reduce), "MPIX_Tide_wait");
      check(MPIX_Tide_ireduce_scatter(MPIX_TIDE_INPUTS(&grad[l]), &sum[l], 0, MPIX_TIDE_AVG, 1.0,
                                      group[l], &reduce),
            "MPIX_Tide_ireduce_scatter");
    }
    check(MPIX_Tide_wait(&reduce), "MPIX_Tide_wait");
    for (int l = 0; l < LAYERS; ++l) { /* the optimizer adds the gradient to this rank's rows */
      MPI_Count row, rows;
      MPIX_Tide_group_shard(group[l], 0, rank, &row, &rows);
      for (MPI_Count i = 0; i < rows * COLS; ++i) {
        const float before = ((float*)shard[l])[i];
        const float expected = before + (float)(size - 1) / 2; /* of weight + rank over all ranks */
        wrong += ((float*)sum[l])[i] != expected;
        ((float*)shard[l])[i] = expected;
      }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("nonblocking: %d wrong sums\n", wrong);

  for (int l = 0; l < LAYERS; ++l) MPIX_Tide_group_free(&group[l]);
  for (int b = 0; b < 4 * LAYERS; ++b) MPIX_Tide_free(MPI_COMM_WORLD, base[b]);
  MPI_Finalize();
  return wrong != 0;
}
