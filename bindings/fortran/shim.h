/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* MPI's handles, from Fortran.  Before MPI_Init and after MPI_Finalize MPI converts none, and Tide
   looks at none. */
#ifndef TIDE_FORTRAN_SHIM_H
#define TIDE_FORTRAN_SHIM_H
#include <mpix_tide.h>

static inline int mpi_is_up(void) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  if (begun) MPI_Finalized(&ended);
  return begun && !ended;
}

static inline MPI_Comm comm_of(MPI_Fint comm) {
  return mpi_is_up() ? MPI_Comm_f2c(comm) : MPI_COMM_NULL;
}
static inline MPI_Info info_of(MPI_Fint info) {
  return mpi_is_up() ? MPI_Info_f2c(info) : MPI_INFO_NULL;
}

/* A list of addresses; count -1 where it is absent (c_list of lists.f90). */
typedef struct {
  void** ptr;
  int count;
  const int* dtypes;
  const MPI_Count* elems;
} List;

#endif
