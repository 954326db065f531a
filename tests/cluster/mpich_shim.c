/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* Loaded before MPICH 4.0 (ch4:ucx) on machines with fewer cores than ranks; for tests only.
   - This MPICH polls without ever giving its core away: a barrier of 8 ranks on 2 cores takes 40
   ms. Here a rank that polls in vain yields.
   - Its MPI_Finalize over TCP flushes each endpoint and then waits in PMI without progress: a peer
     that still needs an answer waits for ever (pmodels/mpich#6596).  Here all ranks answer each
     other for a while first, and what then is closed has nothing left to flush. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <time.h>

enum { VAIN_POLLS = 64, REST_NS = 2000 };
static const double answering_s = 0.1;

static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*);
  static _Thread_local int vain;
  if (!progress) progress = (unsigned (*)(void*))next("ucp_worker_progress");
  const unsigned events = progress(worker);
  if (events) {
    vain = 0;
  } else if (++vain < VAIN_POLLS) {
    sched_yield();
  } else { /* yielding alone starves a peer that sleeps in the kernel's queue */
    const struct timespec rest = {0, REST_NS};
    nanosleep(&rest, NULL);
  }
  return events;
}

/* NULL says that the endpoint is closed already; destroying the worker frees it. */
void* ucp_disconnect_nb(void* endpoint) {
  (void)endpoint;
  return NULL;
}

int MPI_Finalize(void) {
  int (*finalize)(void) = (int (*)(void))next("MPI_Finalize");
  int ranks = 1, found;
  if (MPI_Comm_size(MPI_COMM_WORLD, &ranks) == MPI_SUCCESS && ranks > 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun_s = MPI_Wtime();
    while (MPI_Wtime() - begun_s < answering_s)
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return finalize();
}
