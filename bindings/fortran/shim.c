/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* What Fortran cannot do by itself: handles of MPI, and lists with their lengths. */
#include <stdio.h>

#include <tide_bindings.h>

#include "shim.h"

int tide_fortran_mpi_is_up(void) { return mpi_is_up(); }

/* Tells the next collective what is known of its lists, which it compares with the group's. */
static void tell_lists(List in, List out) {
  const MPIX_Tide_arrays inputs = {in.count, in.dtypes, in.elems};
  const MPIX_Tide_arrays outputs = {out.count, out.dtypes, out.elems};
  PMPIX_Tide_next_lists(in.count < 0 ? NULL : &inputs, &outputs);
}
static const void* const* inputs_of(List list) {
  return list.count < 0 ? MPIX_TIDE_IN_PLACE : MPIX_TIDE_INPUTS(list.ptr);
}

/* ---- Groups and memory ---- */

int tide_fortran_group_create(MPI_Fint comm, int nparams, const MPIX_Tide_param* params,
                              MPI_Count length, MPI_Fint info, MPIX_Tide_group* group) {
  PMPIX_Tide_next_lengths(length, -1);
  return MPIX_Tide_group_create(comm_of(comm), nparams, params, info_of(info), group);
}

int tide_fortran_group_create_explicit(MPI_Fint comm, int nparams, const MPIX_Tide_param* params,
                                       MPI_Count length, const MPI_Count* first_row, MPI_Count rows,
                                       MPI_Fint info, MPIX_Tide_group* group) {
  PMPIX_Tide_next_lengths(length, rows);
  return MPIX_Tide_group_create_explicit(comm_of(comm), nparams, params, first_row, info_of(info),
                                         group);
}

int tide_fortran_group_set_names(MPIX_Tide_group group, const char* prefix,
                                 const char* const* names, MPI_Count length) {
  PMPIX_Tide_next_lengths(length, -1);
  return MPIX_Tide_group_set_names(group, prefix, names);
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

int tide_fortran_allgather(List shards, List params, MPIX_Tide_group group) {
  tell_lists(shards, params);
  return MPIX_Tide_allgather(inputs_of(shards), params.ptr, group);
}

int tide_fortran_iallgather(List shards, List params, MPIX_Tide_group group,
                            MPIX_Tide_request* request) {
  tell_lists(shards, params);
  return MPIX_Tide_iallgather(inputs_of(shards), params.ptr, group, request);
}

int tide_fortran_allgather_init(List shards, List params, MPIX_Tide_group group, MPI_Fint info,
                                MPIX_Tide_request* request) {
  tell_lists(shards, params);
  return MPIX_Tide_allgather_init(inputs_of(shards), params.ptr, group, info_of(info), request);
}

int tide_fortran_allgather_enqueue(List shards, List params, MPIX_Tide_group group, void* stream) {
  return MPIX_Tide_allgather_enqueue(inputs_of(shards), params.ptr, group, stream);
}

int tide_fortran_reduce_scatter(List grads, List shards, int out_dtype, int op, double scale,
                                MPIX_Tide_group group) {
  tell_lists(grads, shards);
  return MPIX_Tide_reduce_scatter(inputs_of(grads), shards.ptr, out_dtype, op, scale, group);
}

int tide_fortran_ireduce_scatter(List grads, List shards, int out_dtype, int op, double scale,
                                 MPIX_Tide_group group, MPIX_Tide_request* request) {
  tell_lists(grads, shards);
  return MPIX_Tide_ireduce_scatter(inputs_of(grads), shards.ptr, out_dtype, op, scale, group,
                                   request);
}

int tide_fortran_reduce_scatter_init(List grads, List shards, int out_dtype, int op, double scale,
                                     MPIX_Tide_group group, MPI_Fint info,
                                     MPIX_Tide_request* request) {
  tell_lists(grads, shards);
  return MPIX_Tide_reduce_scatter_init(inputs_of(grads), shards.ptr, out_dtype, op, scale, group,
                                       info_of(info), request);
}

int tide_fortran_reduce_scatter_enqueue(List grads, List shards, int out_dtype, int op,
                                        double scale, MPIX_Tide_group group, void* stream) {
  return MPIX_Tide_reduce_scatter_enqueue(inputs_of(grads), shards.ptr, out_dtype, op, scale, group,
                                          stream);
}

int tide_fortran_request_mpi(MPIX_Tide_request request, MPI_Fint* mpi_request) {
  MPI_Request made;
  const int code = MPIX_Tide_request_mpi(request, &made);
  if (code == MPI_SUCCESS) *mpi_request = MPI_Request_c2f(made);
  return code;
}

/* ---- Training pipeline ---- */

/* A length is -1 where the list is absent. */
int tide_fortran_pipeline_create(int nlayers, const MPIX_Tide_group* groups, int nflags,
                                 const int* flags, int nforward, const int* forward, int nbackward,
                                 const int* backward, int mode, int prefetch, int reshard,
                                 MPI_Fint info, MPIX_Tide_pipeline* pipeline) {
  const MPIX_Tide_schedule schedule = {.nlayers = nlayers,
                                       .groups = groups,
                                       .layer_flags = nflags < 0 ? NULL : flags,
                                       .nforward = nforward < 0 ? 0 : nforward,
                                       .forward = nforward < 0 ? NULL : forward,
                                       .nbackward = nbackward < 0 ? 0 : nbackward,
                                       .backward = nbackward < 0 ? NULL : backward,
                                       .mode = mode,
                                       .prefetch = prefetch,
                                       .reshard_after_forward = reshard};
  if (nflags >= 0 && nflags != nlayers) {
    char text[128];
    snprintf(text, sizeof text,
             "layer_flags has %d elements but groups has %d; pass one for each layer, or none",
             nflags, nlayers);
    PMPIX_Tide_next_wrong(MPI_ERR_ARG, text);
  }
  return MPIX_Tide_pipeline_create(&schedule, info_of(info), pipeline);
}

/* A list of another length counts as none: refused. */
int tide_fortran_pipeline_bind(MPIX_Tide_pipeline pipeline, int layer, List shards,
                               List grad_shards, int nparams) {
  const MPIX_Tide_arrays in = {shards.count, shards.dtypes, shards.elems};
  const MPIX_Tide_arrays out = {grad_shards.count, grad_shards.dtypes, grad_shards.elems};
  const int fit = shards.count == nparams, results_fit = grad_shards.count == nparams;
  PMPIX_Tide_next_lists(fit ? &in : NULL, results_fit ? &out : NULL);
  return MPIX_Tide_pipeline_bind(pipeline, layer, MPIX_TIDE_INPUTS(fit ? shards.ptr : NULL),
                                 results_fit ? grad_shards.ptr : NULL);
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
