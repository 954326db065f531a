// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The nonblocking, persistent and stream-ordered forms: part of the interface, not of this version.
// They say so.
#include "api/guard.hpp"

using namespace tide;

namespace {

[[noreturn]] void refuse(const char* name) {
  throw Error(Kind::unsupported,
              "{} is not in this version; use MPIX_Tide_allgather and MPIX_Tide_reduce_scatter",
              name);
}

int refuse_group(MPIX_Tide_group group, const char* name) {
  return guard(group, [&](Group&) { refuse(name); });
}

// No request can exist: a null one is complete, as MPI's are.
int null_request(const MPIX_Tide_request* request, const char* name, bool null_is_complete,
                 int* flag = nullptr) {
  return guard_local([&] {
    if (!request)
      throw Error(Kind::request, "{}: request is NULL; pass the address of a handle", name);
    if (*request != MPIX_TIDE_REQUEST_NULL) refuse(name);
    if (!null_is_complete)
      throw Error(Kind::request,
                  "{}: the request is MPIX_TIDE_REQUEST_NULL; pass a persistent request", name);
    if (flag) *flag = 1;
  });
}

}  // namespace

extern "C" {

int PMPIX_Tide_iallgather(const void* const*, void* const[], MPIX_Tide_group group,
                          MPIX_Tide_request*) {
  return refuse_group(group, "MPIX_Tide_iallgather");
}
int PMPIX_Tide_ireduce_scatter(const void* const*, void* const[], int, int, double,
                               MPIX_Tide_group group, MPIX_Tide_request*) {
  return refuse_group(group, "MPIX_Tide_ireduce_scatter");
}
int PMPIX_Tide_allgather_init(const void* const*, void* const[], MPIX_Tide_group group, MPI_Info,
                              MPIX_Tide_request*) {
  return refuse_group(group, "MPIX_Tide_allgather_init");
}
int PMPIX_Tide_reduce_scatter_init(const void* const*, void* const[], int, int, double,
                                   MPIX_Tide_group group, MPI_Info, MPIX_Tide_request*) {
  return refuse_group(group, "MPIX_Tide_reduce_scatter_init");
}
int PMPIX_Tide_allgather_enqueue(const void* const*, void* const[], MPIX_Tide_group group, void*) {
  return refuse_group(group, "MPIX_Tide_allgather_enqueue");
}
int PMPIX_Tide_reduce_scatter_enqueue(const void* const*, void* const[], int, int, double,
                                      MPIX_Tide_group group, void*) {
  return refuse_group(group, "MPIX_Tide_reduce_scatter_enqueue");
}
int PMPIX_Tide_start(MPIX_Tide_request* request) {
  return null_request(request, "MPIX_Tide_start", false);
}
int PMPIX_Tide_startall(int count, MPIX_Tide_request requests[]) {
  for (int i = 0; i < count; i++)
    if (const int code = null_request(&requests[i], "MPIX_Tide_startall", false);
        code != MPI_SUCCESS)
      return code;
  return MPI_SUCCESS;
}
int PMPIX_Tide_test(MPIX_Tide_request* request, int* flag) {
  return null_request(request, "MPIX_Tide_test", true, flag);
}
int PMPIX_Tide_testall(int count, MPIX_Tide_request requests[], int* flag) {
  if (flag) *flag = 1;
  for (int i = 0; i < count; i++)
    if (const int code = null_request(&requests[i], "MPIX_Tide_testall", true, flag);
        code != MPI_SUCCESS)
      return code;
  return MPI_SUCCESS;
}
int PMPIX_Tide_wait(MPIX_Tide_request* request) {
  return null_request(request, "MPIX_Tide_wait", true);
}
int PMPIX_Tide_waitall(int count, MPIX_Tide_request requests[]) {
  for (int i = 0; i < count; i++)
    if (const int code = null_request(&requests[i], "MPIX_Tide_waitall", true); code != MPI_SUCCESS)
      return code;
  return MPI_SUCCESS;
}
int PMPIX_Tide_wait_inputs(MPIX_Tide_request* request) {
  return null_request(request, "MPIX_Tide_wait_inputs", true);
}
int PMPIX_Tide_test_inputs(MPIX_Tide_request* request, int* flag) {
  return null_request(request, "MPIX_Tide_test_inputs", true, flag);
}
int PMPIX_Tide_start_enqueue(MPIX_Tide_request* request, void*) {
  return null_request(request, "MPIX_Tide_start_enqueue", false);
}
int PMPIX_Tide_wait_inputs_enqueue(MPIX_Tide_request* request, void*) {
  return null_request(request, "MPIX_Tide_wait_inputs_enqueue", true);
}
int PMPIX_Tide_wait_enqueue(MPIX_Tide_request* request, void*) {
  return null_request(request, "MPIX_Tide_wait_enqueue", true);
}
int PMPIX_Tide_request_set(MPIX_Tide_request request, int, double) {
  return null_request(&request, "MPIX_Tide_request_set", false);
}
int PMPIX_Tide_request_free(MPIX_Tide_request* request) {
  return null_request(request, "MPIX_Tide_request_free", false);
}
int PMPIX_Tide_request_mpi(MPIX_Tide_request request, MPI_Request*) {
  return null_request(&request, "MPIX_Tide_request_mpi", false);
}
int PMPIX_Tide_group_async_error(MPIX_Tide_group group, int* code) {
  return guard(group, [&](Group&) {
    if (!code) throw Error(Kind::arg, "code is NULL; pass the address of an int");
    *code = MPI_SUCCESS;  // nothing can be enqueued
  });
}
}

TIDE_ALIAS(iallgather)
TIDE_ALIAS(ireduce_scatter)
TIDE_ALIAS(allgather_init)
TIDE_ALIAS(reduce_scatter_init)
TIDE_ALIAS(allgather_enqueue)
TIDE_ALIAS(reduce_scatter_enqueue)
TIDE_ALIAS(start)
TIDE_ALIAS(startall)
TIDE_ALIAS(test)
TIDE_ALIAS(testall)
TIDE_ALIAS(wait)
TIDE_ALIAS(waitall)
TIDE_ALIAS(wait_inputs)
TIDE_ALIAS(test_inputs)
TIDE_ALIAS(start_enqueue)
TIDE_ALIAS(wait_inputs_enqueue)
TIDE_ALIAS(wait_enqueue)
TIDE_ALIAS(request_set)
TIDE_ALIAS(request_free)
TIDE_ALIAS(request_mpi)
TIDE_ALIAS(group_async_error)
