// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The stream-ordered forms: part of the interface, not of this version.  They say so.
#include "api/guard.hpp"

using namespace tide;

namespace {

[[noreturn]] void refuse(const char* name) {
  throw Error(Kind::unsupported,
              "{} needs device memory, which is not in this version; use the blocking, nonblocking "
              "or persistent forms",
              name);
}

int refuse_group(MPIX_Tide_group group, const char* name) {
  return guard(group, [&](Group&) { refuse(name); });
}

// A null request is complete, as MPI's are, and cannot be started.
int refuse_request(const MPIX_Tide_request* request, const char* name, bool null_is_complete) {
  if (request && *request == MPIX_TIDE_REQUEST_NULL && null_is_complete) return MPI_SUCCESS;
  if (!request)
    return guard_local(
        [] { throw Error(Kind::arg, "request is NULL; pass the address of a handle"); });
  return guard(*request, [&](Request&) { refuse(name); });
}

}  // namespace

extern "C" {

int PMPIX_Tide_allgather_enqueue(const void* const*, void* const[], MPIX_Tide_group group, void*) {
  return refuse_group(group, "MPIX_Tide_allgather_enqueue");
}
int PMPIX_Tide_reduce_scatter_enqueue(const void* const*, void* const[], int, int, double,
                                      MPIX_Tide_group group, void*) {
  return refuse_group(group, "MPIX_Tide_reduce_scatter_enqueue");
}
int PMPIX_Tide_replica_allreduce_enqueue(void* const[], int, int, double, MPIX_Tide_group group,
                                         MPI_Comm, void*) {
  return refuse_group(group, "MPIX_Tide_replica_allreduce_enqueue");
}
int PMPIX_Tide_start_enqueue(MPIX_Tide_request* request, void*) {
  return refuse_request(request, "MPIX_Tide_start_enqueue", false);
}
int PMPIX_Tide_wait_inputs_enqueue(MPIX_Tide_request* request, void*) {
  return refuse_request(request, "MPIX_Tide_wait_inputs_enqueue", true);
}
int PMPIX_Tide_wait_enqueue(MPIX_Tide_request* request, void*) {
  return refuse_request(request, "MPIX_Tide_wait_enqueue", true);
}
int PMPIX_Tide_group_async_error(MPIX_Tide_group group, int* code) {
  return guard(group, [&](Group&) {
    if (!code) throw Error(Kind::arg, "code is NULL; pass the address of an int");
    *code = MPI_SUCCESS;  // nothing can be enqueued
  });
}
}

TIDE_ALIAS(allgather_enqueue)
TIDE_ALIAS(reduce_scatter_enqueue)
TIDE_ALIAS(replica_allreduce_enqueue)
TIDE_ALIAS(start_enqueue)
TIDE_ALIAS(wait_inputs_enqueue)
TIDE_ALIAS(wait_enqueue)
TIDE_ALIAS(group_async_error)
