// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What is done with requests.
#include <vector>

#include "api/guard.hpp"

using namespace tide;

int tide::check_pointer(const MPIX_Tide_request* request) {
  return guard_local([&] {
    if (!request) throw Error(Kind::arg, "request is NULL; pass the address of a handle");
  });
}

namespace {

int check_flag(const int* flag) {
  return guard_local([&] {
    if (!flag) throw Error(Kind::arg, "flag is NULL; pass the address of an int");
  });
}

int check_list(int count, const MPIX_Tide_request requests[]) {
  return guard_local([&] {
    if (count < 0) throw Error(Kind::count, "count is {}; pass at least 0", count);
    if (count && !requests)
      throw Error(Kind::arg, "requests is NULL although count is {}; pass an array", count);
  });
}

// Ends the active time of a request that is over: a nonblocking one is freed, with success or
// error.
int complete(MPIX_Tide_request* request) {
  const MPIX_Tide_request handle = *request;
  return guard(handle, [&](Request& r) {
    if (!r.end()) return;
    if (!r.persistent()) {
      requests().remove(handle);
      *request = MPIX_TIDE_REQUEST_NULL;
    }
    r.complete();
  });
}

int wait(MPIX_Tide_request* request) {
  if (*request == MPIX_TIDE_REQUEST_NULL) return MPI_SUCCESS;
  const int code = guard(*request, [](Request& r) { r.wait(); });
  return code == MPI_SUCCESS ? complete(request) : code;
}

// All are completed, whatever goes wrong with one; the first error is returned.
int complete_all(int count, MPIX_Tide_request requests[]) {
  int first = MPI_SUCCESS;
  std::string message;
  for (int i = 0; i < count; i++) {
    const int code = wait(&requests[i]);
    if (first != MPI_SUCCESS || code == MPI_SUCCESS) continue;
    first = code;
    message = PMPIX_Tide_error_message();
  }
  if (first != MPI_SUCCESS) restore_message(message);
  return first;
}

}  // namespace

extern "C" {

int PMPIX_Tide_start(MPIX_Tide_request* request) {
  if (const int code = check_pointer(request)) return code;
  return guard(*request, [](Request& r) {
    if (!r.persistent())
      throw Error(Kind::request,
                  "the request is nonblocking: it was started when it was made; start persistent "
                  "ones");
    r.start();
  });
}

int PMPIX_Tide_startall(int count, MPIX_Tide_request requests[]) {
  if (const int code = check_list(count, requests)) return code;
  for (int i = 0; i < count; i++)
    if (const int code = PMPIX_Tide_start(&requests[i])) return code;
  return MPI_SUCCESS;
}

int PMPIX_Tide_test(MPIX_Tide_request* request, int* flag) {
  if (const int code = check_pointer(request)) return code;
  if (const int code = check_flag(flag)) return code;
  int over = 1;
  if (*request != MPIX_TIDE_REQUEST_NULL)
    if (const int code = guard(*request, [&](Request& r) { over = !r.active() || r.test(); }))
      return code;
  *flag = over;
  return over && *request != MPIX_TIDE_REQUEST_NULL ? complete(request) : MPI_SUCCESS;
}

int PMPIX_Tide_testall(int count, MPIX_Tide_request requests[], int* flag) {
  if (const int code = check_list(count, requests)) return code;
  if (const int code = check_flag(flag)) return code;
  int all = 1;
  for (int i = 0; i < count; i++)
    if (requests[i] != MPIX_TIDE_REQUEST_NULL)
      if (const int code = guard(requests[i], [&](Request& r) { all &= !r.active() || r.test(); }))
        return code;
  *flag = all;
  return all ? complete_all(count, requests) : MPI_SUCCESS;
}

int PMPIX_Tide_wait(MPIX_Tide_request* request) {
  if (const int code = check_pointer(request)) return code;
  return wait(request);
}

int PMPIX_Tide_waitall(int count, MPIX_Tide_request requests[]) {
  if (const int code = check_list(count, requests)) return code;
  return complete_all(count, requests);
}

int PMPIX_Tide_wait_inputs(MPIX_Tide_request* request) {
  if (const int code = check_pointer(request)) return code;
  if (*request == MPIX_TIDE_REQUEST_NULL) return MPI_SUCCESS;
  return guard(*request, [](Request& r) { r.wait_inputs(); });
}

int PMPIX_Tide_test_inputs(MPIX_Tide_request* request, int* flag) {
  if (const int code = check_pointer(request)) return code;
  if (const int code = check_flag(flag)) return code;
  int read = 1;
  if (*request != MPIX_TIDE_REQUEST_NULL)
    if (const int code = guard(*request, [&](Request& r) { read = r.test_inputs(); })) return code;
  *flag = read;
  return MPI_SUCCESS;
}

int PMPIX_Tide_request_set(MPIX_Tide_request request, int op, double scale) {
  return guard(request, [&](Request& r) { r.set(op, scale); });
}

int PMPIX_Tide_request_free(MPIX_Tide_request* request) {
  if (const int code = check_pointer(request)) return code;
  if (!requests().remove(*request)) return guard(*request, [](Request&) {});  // says what is wrong
  *request = MPIX_TIDE_REQUEST_NULL;
  return MPI_SUCCESS;
}

int PMPIX_Tide_request_mpi(MPIX_Tide_request request, MPI_Request* mpi_request) {
  return guard(request, [&](Request& r) {
    if (!mpi_request) throw Error(Kind::arg, "mpi_request is NULL; pass the address of a request");
    r.mpi(mpi_request);
  });
}
}

TIDE_ALIAS(start)
TIDE_ALIAS(startall)
TIDE_ALIAS(test)
TIDE_ALIAS(testall)
TIDE_ALIAS(wait)
TIDE_ALIAS(waitall)
TIDE_ALIAS(wait_inputs)
TIDE_ALIAS(test_inputs)
TIDE_ALIAS(request_set)
TIDE_ALIAS(request_free)
TIDE_ALIAS(request_mpi)
