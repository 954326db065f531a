/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* What Fortran cannot do by itself: handles of MPI, and lists with their lengths. */
#include "shim.h"

/* Input and output list of a collective; n is a length, -1 where the list is absent. */
typedef struct {
  const void* const* in;
  void* const* out;
} Lists;

/* A list of another length than the group's counts as none: then all ranks get an error. */
static int lists_of(MPIX_Tide_group group, const void* const* in, int n_in, void* const* out,
                    int n_out, Lists* lists) {
  int nparams;
  const int code = PMPIX_Tide_group_get(group, NULL, &nparams, NULL);
  if (code != MPI_SUCCESS) return code;
  lists->in = n_in < 0 ? MPIX_TIDE_IN_PLACE : n_in == nparams ? in : NULL;
  lists->out = n_out == nparams ? out : NULL;
  return MPI_SUCCESS;
}
#define TIDE_LISTS(in, n_in, out, n_out)                                   \
  Lists lists;                                                             \
  const int code_of_lists = lists_of(group, in, n_in, out, n_out, &lists); \
  if (code_of_lists != MPI_SUCCESS) return code_of_lists

/* ---- Groups and memory ---- */

int tide_fortran_group_create(MPI_Fint comm, int nparams, const MPIX_Tide_param* params,
                              MPI_Fint info, MPIX_Tide_group* group) {
  return MPIX_Tide_group_create(comm_of(comm), nparams, params, info_of(info), group);
}

int tide_fortran_group_create_explicit(MPI_Fint comm, int nparams, const MPIX_Tide_param* params,
                                       const MPI_Count* first_row, MPI_Count rows, MPI_Fint info,
                                       MPIX_Tide_group* group) {
  int ranks = 0;
  if (comm_of(comm) != MPI_COMM_NULL) MPI_Comm_size(comm_of(comm), &ranks);
  if (rows != (MPI_Count)nparams * (ranks + 1)) first_row = NULL; /* all ranks get an error */
  return MPIX_Tide_group_create_explicit(comm_of(comm), nparams, params, first_row, info_of(info),
                                         group);
}

int tide_fortran_group_get(MPIX_Tide_group group, MPI_Fint* comm, int* nparams,
                           MPIX_Tide_param* params) {
  MPI_Comm made;
  const int code = MPIX_Tide_group_get(group, &made, nparams, params);
  if (code == MPI_SUCCESS) *comm = MPI_Comm_c2f(made);
  return code;
}

int tide_fortran_alloc(MPI_Fint comm, MPI_Aint bytes, MPI_Fint info, void** base) {
  return MPIX_Tide_alloc(comm_of(comm), bytes, info_of(info), base);
}

int tide_fortran_free(MPI_Fint comm, void* base) { return MPIX_Tide_free(comm_of(comm), base); }

int tide_fortran_group_alloc(MPIX_Tide_group group, int what, int dtype, MPI_Fint info, void** ptrs,
                             void** base) {
  return MPIX_Tide_group_alloc(group, what, dtype, info_of(info), ptrs, base);
}

/* ---- Collectives ---- */

int tide_fortran_allgather(const void* const* shards, int nshards, void* const* params, int nparams,
                           MPIX_Tide_group group) {
  TIDE_LISTS(shards, nshards, params, nparams);
  return MPIX_Tide_allgather(lists.in, lists.out, group);
}

int tide_fortran_iallgather(const void* const* shards, int nshards, void* const* params,
                            int nparams, MPIX_Tide_group group, MPIX_Tide_request* request) {
  TIDE_LISTS(shards, nshards, params, nparams);
  return MPIX_Tide_iallgather(lists.in, lists.out, group, request);
}

int tide_fortran_allgather_init(const void* const* shards, int nshards, void* const* params,
                                int nparams, MPIX_Tide_group group, MPI_Fint info,
                                MPIX_Tide_request* request) {
  TIDE_LISTS(shards, nshards, params, nparams);
  return MPIX_Tide_allgather_init(lists.in, lists.out, group, info_of(info), request);
}

int tide_fortran_allgather_enqueue(const void* const* shards, int nshards, void* const* params,
                                   int nparams, MPIX_Tide_group group, void* stream) {
  TIDE_LISTS(shards, nshards, params, nparams);
  return MPIX_Tide_allgather_enqueue(lists.in, lists.out, group, stream);
}

int tide_fortran_reduce_scatter(const void* const* grads, int ngrads, void* const* shards,
                                int nshards, int out_dtype, int op, double scale,
                                MPIX_Tide_group group) {
  TIDE_LISTS(grads, ngrads, shards, nshards);
  return MPIX_Tide_reduce_scatter(lists.in, lists.out, out_dtype, op, scale, group);
}

int tide_fortran_ireduce_scatter(const void* const* grads, int ngrads, void* const* shards,
                                 int nshards, int out_dtype, int op, double scale,
                                 MPIX_Tide_group group, MPIX_Tide_request* request) {
  TIDE_LISTS(grads, ngrads, shards, nshards);
  return MPIX_Tide_ireduce_scatter(lists.in, lists.out, out_dtype, op, scale, group, request);
}

int tide_fortran_reduce_scatter_init(const void* const* grads, int ngrads, void* const* shards,
                                     int nshards, int out_dtype, int op, double scale,
                                     MPIX_Tide_group group, MPI_Fint info,
                                     MPIX_Tide_request* request) {
  TIDE_LISTS(grads, ngrads, shards, nshards);
  return MPIX_Tide_reduce_scatter_init(lists.in, lists.out, out_dtype, op, scale, group,
                                       info_of(info), request);
}

int tide_fortran_reduce_scatter_enqueue(const void* const* grads, int ngrads, void* const* shards,
                                        int nshards, int out_dtype, int op, double scale,
                                        MPIX_Tide_group group, void* stream) {
  TIDE_LISTS(grads, ngrads, shards, nshards);
  return MPIX_Tide_reduce_scatter_enqueue(lists.in, lists.out, out_dtype, op, scale, group, stream);
}

int tide_fortran_request_mpi(MPIX_Tide_request request, MPI_Fint* mpi_request) {
  MPI_Request made;
  const int code = MPIX_Tide_request_mpi(request, &made);
  if (code == MPI_SUCCESS) *mpi_request = MPI_Request_c2f(made);
  return code;
}

/* ---- Communicators ---- */

int tide_fortran_comm_topology(MPI_Fint comm, MPIX_Tide_topology* topology) {
  return MPIX_Tide_comm_topology(comm_of(comm), topology);
}

int tide_fortran_comm_node(MPI_Fint comm, MPI_Fint* node) {
  MPI_Comm made;
  const int code = MPIX_Tide_comm_node(comm_of(comm), &made);
  if (code == MPI_SUCCESS) *node = MPI_Comm_c2f(made);
  return code;
}

int tide_fortran_comm_rail(MPI_Fint comm, MPI_Fint* rail) {
  MPI_Comm made;
  const int code = MPIX_Tide_comm_rail(comm_of(comm), &made);
  if (code == MPI_SUCCESS) *rail = MPI_Comm_c2f(made);
  return code;
}

int tide_fortran_comm_grid(MPI_Fint comm, int shard_size, MPI_Fint* shard, MPI_Fint* replica) {
  MPI_Comm made_shard, made_replica;
  const int code = MPIX_Tide_comm_grid(comm_of(comm), shard_size, &made_shard, &made_replica);
  if (code != MPI_SUCCESS) return code;
  *shard = MPI_Comm_c2f(made_shard);
  *replica = MPI_Comm_c2f(made_replica);
  return code;
}
