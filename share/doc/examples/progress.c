/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* tide_progress = thread: the operation gets on while the program computes without calling the
   library, or sits in MPI.  Falls back to polling where MPI does not give what that needs. */
#include <mpix_tide.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int provided, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  const int threads = provided == MPI_THREAD_MULTIPLE; /* the same on all ranks, as info must be */
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tide_progress", threads ? "thread" : "poll");
  const MPIX_Tide_param weight = {.rows = 1000, .row_elems = 1, .dtype = MPIX_TIDE_FP64};
  MPIX_Tide_group group;
  MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &weight, info, &group);
  MPI_Info_free(&info);

  void *shard, *full, *base[2];
  MPIX_Tide_group_alloc(group, MPIX_TIDE_SHARD, 0, MPI_INFO_NULL, &shard, &base[0]);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_FULL, 0, MPI_INFO_NULL, &full, &base[1]);
  MPI_Count row, rows;
  MPIX_Tide_group_shard(group, 0, rank, &row, &rows);
  for (MPI_Count i = 0; i < rows; ++i) ((double*)shard)[i] = (double)(row + i);

  MPIX_Tide_request gather;
  MPIX_Tide_iallgather(MPIX_TIDE_INPUTS(&shard), &full, group, &gather);
  double energy = 0; /* a computation that knows nothing of Tide */
  for (int i = 1; i < 1000000; ++i) energy += 1.0 / i;
  /* With polling alone a rank that blocks in MPI here would drive nothing until it is back. */
  if (threads) MPI_Barrier(MPI_COMM_WORLD);
  MPIX_Tide_wait(&gather);

  int wrong = energy <= 0;
  for (int i = 0; i < 1000; ++i) wrong += ((double*)full)[i] != i;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("progress by %s: %d wrong\n", threads ? "thread" : "polling", wrong);
  MPIX_Tide_group_free(&group);
  MPIX_Tide_free(MPI_COMM_WORLD, base[0]);
  MPIX_Tide_free(MPI_COMM_WORLD, base[1]);
  MPI_Finalize();
  return wrong != 0;
}
