/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
#include <mpix_tide.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 5 /* not a multiple of the ranks */
#define ELEMS 3

/* Before: pad, MPI_Allgather, copy out. */
static void with_mpi(const float* shard, int mine, float* full, int ranks) {
  const int most = (ROWS + ranks - 1) / ranks * ELEMS;
  float* send = calloc((size_t)most, sizeof(float));
  float* flat = malloc((size_t)most * (size_t)ranks * sizeof(float));
  memcpy(send, shard, (size_t)mine * ELEMS * sizeof(float));
  MPI_Allgather(send, most, MPI_FLOAT, flat, most, MPI_FLOAT, MPI_COMM_WORLD);
  memcpy(full, flat, ROWS * ELEMS * sizeof(float)); /* the padding is at the end: one parameter */
  free(flat);
  free(send);
}

/* After: the rows go where they belong.  A program makes the group once. */
static void with_tide(const float* shard, float* full) {
  const MPIX_Tide_param weight = {.rows = ROWS, .row_elems = ELEMS, .dtype = MPIX_TIDE_FP32};
  MPIX_Tide_group group;
  MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &weight, MPI_INFO_NULL, &group);
  const void* shards[] = {shard};
  void* params[] = {full};
  MPIX_Tide_allgather(shards, params, group);
  MPIX_Tide_group_free(&group);
}

int main(int argc, char** argv) {
  float shard[ROWS * ELEMS], before[ROWS * ELEMS], after[ROWS * ELEMS];
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int most = (ROWS + ranks - 1) / ranks, first = rank * most < ROWS ? rank * most : ROWS;
  const int mine = ROWS - first < most ? ROWS - first : most;
  for (int i = 0; i < mine * ELEMS; ++i) shard[i] = (float)(first * ELEMS + i);
  with_mpi(shard, mine, before, ranks);
  with_tide(shard, after);
  if (rank == 0)
    printf("migrate: %s, last is %g\n",
           memcmp(before, after, sizeof after) ? "differ" : "equal bits", after[ROWS * ELEMS - 1]);
  MPI_Finalize();
  return 0;
}
