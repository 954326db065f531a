/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* tide_timeout: the last rank stops answering, the others get an error instead of waiting for
   ever, save what they have and end the job. */
#include <mpix_tide.h>
#include <stdio.h>
#include <unistd.h>

enum { TIMEOUT_S = 1 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  /* A communicator of its own: its handler returns errors, all other MPI calls stay fatal. */
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tide_timeout", "1"); /* seconds, the same on all ranks */
  const MPIX_Tide_param weight = {.rows = 1000, .row_elems = 1, .dtype = MPIX_TIDE_FP32};
  MPIX_Tide_group group;
  if (MPIX_Tide_group_create(comm, 1, &weight, info, &group) != MPI_SUCCESS) {
    fprintf(stderr, "rank %d: %s\n", rank, MPIX_Tide_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Info_free(&info);

  static float shard[1000], full[1000];
  void *shards[] = {shard}, *params[] = {full};
  MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards), params, group); /* all ranks answer */
  if (size > 1 && rank == size - 1) sleep(3 * TIMEOUT_S + 4);   /* and now this one does not */
  const double begin = MPI_Wtime();
  const int code = MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards), params, group);
  const double waited_s = MPI_Wtime() - begin;
  if (code != MPI_SUCCESS) {
    int kind;
    MPIX_Tide_error_kind(code, &kind);
    const int in_time = waited_s < 2 * TIMEOUT_S + 1;
    /* full is undefined now, and stays in use until the process ends: a peer that resumes may still
       write to it.  shard is intact: this is where a program saves it. */
    if (rank == 0)
      printf("%s, %s: %s\n", kind == MPIX_TIDE_ERR_TIMEOUT ? "timeout" : "failed",
             in_time ? "in time" : "late", MPIX_Tide_error_message());
    fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD);  /* the late rank is alive in this example; a real one may be dead,
                                   and then MPI_Abort is the way out */
  MPIX_Tide_group_free(&group); /* local, also of a broken group */
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
