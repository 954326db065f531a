/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* The interface as a C program sees it: C11, all warnings are errors.  The argument is the rank
 * count that was asked for. */
#include <mpix_tide.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      fprintf(stderr, "rank %d: %s:%d: %s: %s\n", rank, __FILE__, __LINE__, #condition, \
              MPIX_Tide_error_message());                                               \
      MPI_Abort(MPI_COMM_WORLD, 2);                                                     \
    }                                                                                   \
  } while (0)

static int rank, size;

static MPIX_Tide_param param(MPI_Count rows, MPI_Count row_elems) {
  MPIX_Tide_param p;
  memset(&p, 0, sizeof p);
  p.rows = rows;
  p.row_elems = row_elems;
  p.dtype = MPIX_TIDE_FP32;
  p.types = MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_FP32);
  return p;
}

static void gather_and_reduce(MPIX_Tide_group group) {
  void *full[2], *shards[2], *base, *shard_base;
  MPI_Count first[2], rows[2];
  int p;
  MPI_Count i;
  CHECK(MPIX_Tide_group_alloc(group, MPIX_TIDE_FULL, 0, MPI_INFO_NULL, full, &base) == MPI_SUCCESS);
  CHECK(MPIX_Tide_group_alloc(group, MPIX_TIDE_SHARD, 0, MPI_INFO_NULL, shards, &shard_base) ==
        MPI_SUCCESS);
  for (p = 0; p < 2; ++p) {
    CHECK(MPIX_Tide_group_shard(group, p, rank, &first[p], &rows[p]) == MPI_SUCCESS);
    for (i = 0; i < rows[p] * 3; ++i) ((float*)shards[p])[i] = (float)(first[p] * 3 + i);
  }
  CHECK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards), full, group) == MPI_SUCCESS);
  for (i = 0; i < 15; ++i) CHECK(((float*)full[0])[i] == (float)i);
  for (i = 0; i < 6; ++i) CHECK(((float*)full[1])[i] == (float)i);
  CHECK(MPIX_Tide_allgather(MPIX_TIDE_IN_PLACE, full, group) == MPI_SUCCESS);
  for (i = 0; i < 15; ++i) CHECK(((float*)full[0])[i] == (float)i);
  CHECK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(full), shards, 0,
                                 MPIX_TIDE_AVG | MPIX_TIDE_ACCUMULATE, 2.0, group) == MPI_SUCCESS);
  for (p = 0; p < 2; ++p) {
    for (i = 0; i < rows[p] * 3; ++i)
      CHECK(((float*)shards[p])[i] == 3.0f * (float)(first[p] * 3 + i));
  }
  CHECK(MPIX_Tide_free(MPI_COMM_WORLD, base) == MPI_SUCCESS);
  CHECK(MPIX_Tide_free(MPI_COMM_NULL, shard_base) == MPI_SUCCESS);
}

static void queries(MPIX_Tide_group group) {
  MPIX_Tide_sizes sizes;
  MPIX_Tide_topology topology;
  MPIX_Tide_param list[2];
  MPI_Comm comm;
  size_t needed;
  int n, kind, code;
  CHECK(MPIX_Tide_group_get(group, &comm, &n, list) == MPI_SUCCESS && n == 2 && list[1].rows == 2);
  CHECK(MPIX_Tide_group_sizes(group, &sizes) == MPI_SUCCESS && sizes.full_bytes == 84);
  CHECK(MPIX_Tide_comm_topology(MPI_COMM_WORLD, &topology) == MPI_SUCCESS && topology.nodes >= 1);
  CHECK(MPIX_Tide_group_report(group, NULL, 0, &needed) == MPI_SUCCESS && needed > 2);
  code = MPIX_Tide_group_shard(group, 7, 0, NULL, NULL);
  CHECK(code != MPI_SUCCESS && MPIX_Tide_error_kind(code, &kind) == MPI_SUCCESS && kind == 0);
  CHECK(strlen(MPIX_Tide_error_message()) > 5);
  CHECK(MPIX_TIDE_VERSION_GE(0, 1, 0) && !MPIX_TIDE_VERSION_GE(99, 0, 0));
}

int main(int argc, char** argv) {
  MPIX_Tide_param params[2];
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  alarm(45); /* a hang ends here, below the time limit of the test */
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && atoi(argv[1]) != size) {
    fprintf(stderr, "%s ranks were asked for, MPI_COMM_WORLD has %d: wrong launcher\n", argv[1],
            size);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  params[0] = param(5, 3);
  params[1] = param(2, 3);
  CHECK(MPIX_Tide_group_create(MPI_COMM_WORLD, 2, params, MPI_INFO_NULL, &group) == MPI_SUCCESS);
  gather_and_reduce(group);
  queries(group);
  CHECK(MPIX_Tide_group_free(&group) == MPI_SUCCESS && group == MPIX_TIDE_GROUP_NULL);
  MPI_Finalize();
  if (rank == 0) printf("C interface: all checks passed on %d ranks\n", size);
  return 0;
}
