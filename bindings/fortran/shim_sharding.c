/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* Replicas, norms, whole parameters and checkpoints for Fortran: MPI's handles, lists with their
   lengths. */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <tide_bindings.h>

/* Compares with the group; a list of another length is not followed.  what: of shards, or of whole
   parameters. */
enum { SHARDS = 0, WHOLE = 1 };
static void* const* list_of(MPIX_Tide_group group, List list, int what, int dtype,
                            int skip_nograd) {
  static void* nothing[1] = {NULL}; /* of a group without parameters */
  const MPIX_Tide_arrays arrays = {list.count, list.dtypes, list.elems};
  int nparams = -1;
  if (group == MPIX_TIDE_GROUP_NULL) return list.ptr; /* the call says so */
  if (PMPIX_Tide_group_get(group, NULL, &nparams, NULL) != MPI_SUCCESS) return list.ptr;
  if (list.count >= 0) PMPIX_Tide_next_list(group, what, dtype, skip_nograd, &arrays);
  if (list.count != nparams) return NULL;
  return nparams == 0 ? nothing : list.ptr;
}

/* Whether this rank's whole parameters are looked at. */
static int is_root(MPIX_Tide_group group, int root) {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = -1;
  if (!mpi_is_up() || group == MPIX_TIDE_GROUP_NULL) return 0;
  if (PMPIX_Tide_group_get(group, &comm, NULL, NULL) != MPI_SUCCESS) return 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_rank(comm, &rank);
  return rank == root;
}
static void* const* whole_of(MPIX_Tide_group group, List list, int root) {
  if (!is_root(group, root)) list.dtypes = NULL, list.elems = NULL;
  if (!is_root(group, root)) return list.ptr;
  return list_of(group, list, WHOLE, 0, 0);
}

/* More entries than an array has are not read. */
static int length_of(const char* what, int length, int size) {
  char text[96];
  if (length <= size) return length;
  snprintf(text, sizeof text, "%s is %d but its array has %d elements", what, length, size);
  PMPIX_Tide_next_wrong(MPI_ERR_COUNT, text);
  return size;
}

int tide_fortran_replica_allreduce(List shards, int dtype, int op, double scale,
                                   MPIX_Tide_group group, MPI_Fint replica) {
  return MPIX_Tide_replica_allreduce(list_of(group, shards, SHARDS, dtype, 1), dtype, op, scale,
                                     group, comm_of(replica));
}

int tide_fortran_ireplica_allreduce(List shards, int dtype, int op, double scale,
                                    MPIX_Tide_group group, MPI_Fint replica,
                                    MPIX_Tide_request* request) {
  return MPIX_Tide_ireplica_allreduce(list_of(group, shards, SHARDS, dtype, 1), dtype, op, scale,
                                      group, comm_of(replica), request);
}

int tide_fortran_replica_allreduce_enqueue(List shards, int dtype, int op, double scale,
                                           MPIX_Tide_group group, MPI_Fint replica, void* stream) {
  return MPIX_Tide_replica_allreduce_enqueue(list_of(group, shards, SHARDS, dtype, 1), dtype, op,
                                             scale, group, comm_of(replica), stream);
}

int tide_fortran_norm2(MPI_Fint shard, int wanted, int size, const MPIX_Tide_group* groups,
                       const List* lists, int dtype, double* norm2) {
  const int ngroups = length_of("ngroups", wanted, size);
  void* const** all = malloc(((size_t)(ngroups > 0 ? ngroups : 0) + 1) * sizeof *all);
  int i, code;
  for (i = 0; all && i < ngroups; ++i) all[i] = list_of(groups[i], lists[i], SHARDS, dtype, 1);
  code = MPIX_Tide_norm2(comm_of(shard), ngroups, groups, MPIX_TIDE_LISTS(all), dtype, norm2);
  free(all);
  return code;
}

int tide_fortran_scatter(int root, List params, List shards, MPIX_Tide_group group) {
  return MPIX_Tide_scatter(root, MPIX_TIDE_INPUTS(whole_of(group, params, root)),
                           list_of(group, shards, SHARDS, 0, 0), group);
}

int tide_fortran_gather(int root, List shards, List params, MPIX_Tide_group group) {
  return MPIX_Tide_gather(root, MPIX_TIDE_INPUTS(list_of(group, shards, SHARDS, 0, 0)),
                          whole_of(group, params, root), group);
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
    all[i].shards = list_of(items[i].group, items[i].shards, SHARDS, items[i].dtype,
                            items[i].kind && items[i].kind[0]);
  }
  return all;
}

int tide_fortran_save(MPI_Fint comm, const char* path, int nitems, int size, const Item* items,
                      const char* metadata, MPI_Fint info) {
  const int n = length_of("nitems", nitems, size);
  MPIX_Tide_item* all = items_of(n, items);
  const int code = MPIX_Tide_save(comm_of(comm), path, n, all, metadata, info_of(info));
  free(all);
  return code;
}

/* Made once, with room for what most files have, and again where that was not enough. */
int tide_fortran_load(MPI_Fint comm, const char* path, int nitems, int size_of_items,
                      const Item* items, char** metadata, MPI_Fint info) {
  const int n = length_of("nitems", nitems, size_of_items);
  MPIX_Tide_item* all = items_of(n, items);
  size_t size = 1 << 16, needed = 0;
  char* text = malloc(size);
  int code =
      MPIX_Tide_load(comm_of(comm), path, n, all, text, text ? size : 0, &needed, info_of(info));
  if (code == MPI_SUCCESS && needed > size) {
    free(text);
    text = malloc(needed);
    code = MPIX_Tide_load(comm_of(comm), path, n, all, text, text ? needed : 0, &needed,
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
