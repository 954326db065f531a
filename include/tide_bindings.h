/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* For bindings of other languages, which know more of their arguments than the C interface takes;
   programs have no use for it.  All are local and hold for the call that this thread makes next.
   What does not fit is an error of that call, on all ranks where it is collective. */
#ifndef TIDE_BINDINGS_H
#define TIDE_BINDINGS_H

#include <mpix_tide.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An array that may hold bf16 or fp16: Fortran has a kind for neither. */
#define MPIX_TIDE_TWO_BYTES (MPIX_TIDE_BF16 | MPIX_TIDE_FP16 << 8)

/* A list of arrays. */
typedef struct MPIX_Tide_arrays {
  int count;              /* of its entries; the next two have as many, or are NULL: not known */
  const int* dtypes;      /* element types, MPIX_TIDE_ or MPIX_TIDE_TWO_BYTES; 0: not known */
  const MPI_Count* elems; /* elements; -1: not known */
} MPIX_Tide_arrays;

/* Tells of the lists of the next collective.  An array of all rows has as many elements as the
   parameter, one of a rank's rows at least as many as these.
     inputs   in  NULL: not known
     outputs  in  NULL: not known */
MPIX_TIDE_API void PMPIX_Tide_next_lists(const MPIX_Tide_arrays* inputs,
                                         const MPIX_Tide_arrays* outputs);

/* Compares a list of shards (all_rows: of whole parameters, in the shard type) with the group's.
   What does not fit is an error (BUFFER) of the next replica_allreduce, norm2, scatter, gather,
   save or load; may be called for several lists. dtype        in  element type of all, 0: each
   parameter's shard type skip_nograd  in  entries of parameters without a gradient do not matter */
MPIX_TIDE_API void PMPIX_Tide_next_list(MPIX_Tide_group group, int all_rows, int dtype,
                                        int skip_nograd, const MPIX_Tide_arrays* list);

/* Another error of the same calls, or of pipeline_create: ARG or COUNT of MPI, and its text. */
MPIX_TIDE_API void PMPIX_Tide_next_wrong(int error_class, const char* message);

/* Tells how many elements have the arrays of the next group_create, group_create_explicit or
   group_set_names.
     array      in  of params (at least nparams) or names (as many as parameters)
     first_row  in  of first_row: nparams * (N+1).  -1: not known */
MPIX_TIDE_API void PMPIX_Tide_next_lengths(MPI_Count array, MPI_Count first_row);

#ifdef __cplusplus
}
#endif
#endif
