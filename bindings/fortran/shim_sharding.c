/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* Replicas, norms, whole parameters and checkpoints for Fortran: MPI's handles, lists with their
   lengths. */
#include "shim.h"

#include <stdlib.h>

/* A list of another length than the group's counts as none: then all ranks get an error. */
static void* const* list_of(MPIX_Tide_group group, List list) {
  static void* nothing[1] = {NULL}; /* of a group without parameters */
  int nparams = -1;
  if (group == MPIX_TIDE_GROUP_NULL) return list.ptr; /* the call says so */
  if (PMPIX_Tide_group_get(group, NULL, &nparams, NULL) != MPI_SUCCESS) return list.ptr;
  if (list.count != nparams) return NULL;
  return nparams == 0 ? nothing : list.ptr;
}

int tide_fortran_replica_allreduce(List shards, int dtype, int op, double scale,
                                   MPIX_Tide_group group, MPI_Fint replica) {
  return MPIX_Tide_replica_allreduce(list_of(group, shards), dtype, op, scale, group,
                                     comm_of(replica));
}

int tide_fortran_ireplica_allreduce(List shards, int dtype, int op, double scale,
                                    MPIX_Tide_group group, MPI_Fint replica,
                                    MPIX_Tide_request* request) {
  return MPIX_Tide_ireplica_allreduce(list_of(group, shards), dtype, op, scale, group,
                                      comm_of(replica), request);
}

int tide_fortran_replica_allreduce_enqueue(List shards, int dtype, int op, double scale,
                                           MPIX_Tide_group group, MPI_Fint replica, void* stream) {
  return MPIX_Tide_replica_allreduce_enqueue(list_of(group, shards), dtype, op, scale, group,
                                             comm_of(replica), stream);
}

int tide_fortran_norm2(MPI_Fint shard, int ngroups, const MPIX_Tide_group* groups,
                       const List* lists, int dtype, double* norm2) {
  void* const** all = malloc(((size_t)(ngroups > 0 ? ngroups : 0) + 1) * sizeof *all);
  int i, code;
  for (i = 0; all && i < ngroups; ++i) all[i] = list_of(groups[i], lists[i]);
  code = MPIX_Tide_norm2(comm_of(shard), ngroups, groups, MPIX_TIDE_LISTS(all), dtype, norm2);
  free(all);
  return code;
}

int tide_fortran_scatter(int root, List params, List shards, MPIX_Tide_group group) {
  return MPIX_Tide_scatter(root, MPIX_TIDE_INPUTS(list_of(group, params)), list_of(group, shards),
                           group);
}

int tide_fortran_gather(int root, List shards, List params, MPIX_Tide_group group) {
  return MPIX_Tide_gather(root, MPIX_TIDE_INPUTS(list_of(group, shards)), list_of(group, params),
                          group);
}

typedef struct {
  const char* kind;
  MPIX_Tide_group group;
  int dtype;
  List shards;
} Item;

/* NULL where there is no memory: then all ranks get an error. */
static MPIX_Tide_item* items_of(int nitems, const Item* items) {
  MPIX_Tide_item* all = malloc(((size_t)(nitems > 0 ? nitems : 0) + 1) * sizeof *all);
  int i;
  for (i = 0; all && i < nitems; ++i) {
    all[i].kind = items[i].kind;
    all[i].group = items[i].group;
    all[i].dtype = items[i].dtype;
    all[i].shards = list_of(items[i].group, items[i].shards);
  }
  return all;
}

int tide_fortran_save(MPI_Fint comm, const char* path, int nitems, const Item* items,
                      const char* metadata, MPI_Fint info) {
  MPIX_Tide_item* all = items_of(nitems, items);
  const int code = MPIX_Tide_save(comm_of(comm), path, nitems, all, metadata, info_of(info));
  free(all);
  return code;
}

/* Made once, with room for what most files have, and again where that was not enough. */
int tide_fortran_load(MPI_Fint comm, const char* path, int nitems, const Item* items,
                      char** metadata, MPI_Fint info) {
  MPIX_Tide_item* all = items_of(nitems, items);
  size_t size = 1 << 16, needed = 0;
  char* text = malloc(size);
  int code = MPIX_Tide_load(comm_of(comm), path, nitems, all, text, text ? size : 0, &needed,
                            info_of(info));
  if (code == MPI_SUCCESS && needed > size) {
    free(text);
    text = malloc(needed);
    code = MPIX_Tide_load(comm_of(comm), path, nitems, all, text, text ? needed : 0, &needed,
                          info_of(info));
  }
  free(all);
  if (code == MPI_SUCCESS)
    *metadata = text;
  else
    free(text);
  return code;
}

void tide_fortran_free_text(char* text) { free(text); }
