// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The stream-ordered forms.
#include "api/arguments.hpp"
#include "api/guard.hpp"
#include "api/next_call.hpp"
#include "core/stream_order.hpp"

using namespace tide;

namespace {

int put(MPIX_Tide_group group, Arguments a, void* stream) {
  const ToldLists lists = take_lists();
  return guard(group, [&](Group& g) {
    compare(g, lists, a);
    const auto self = g.shared_from_this();
    check_stream(g);
    const auto gate =
        gpu::capturing(stream) ? capture(self, a, stream)->gate : enqueue(self, a, stream)->gate;
    gate->hold(stream);
  });
}

}  // namespace

extern "C" {

int PMPIX_Tide_allgather_enqueue(const void* const* shards, void* const params[],
                                 MPIX_Tide_group group, void* stream) {
  return put(group, gather_arguments(shards, params), stream);
}

int PMPIX_Tide_reduce_scatter_enqueue(const void* const* grads, void* const shards[], int out_dtype,
                                      int op, double scale, MPIX_Tide_group group, void* stream) {
  return put(group, reduce_arguments(grads, shards, out_dtype, op, scale), stream);
}

int PMPIX_Tide_start_enqueue(MPIX_Tide_request* request, void* stream) {
  if (const int code = check_pointer(request)) return code;
  return guard(*request, [&](Request& r) {
    if (!r.persistent())
      throw Error(Kind::request,
                  "the request is nonblocking: it was started when it was made; start persistent "
                  "ones");
    r.start_on(stream);
  });
}

int PMPIX_Tide_wait_inputs_enqueue(MPIX_Tide_request* request, void* stream) {
  if (const int code = check_pointer(request)) return code;
  if (*request == MPIX_TIDE_REQUEST_NULL) return MPI_SUCCESS;
  return guard(*request, [&](Request& r) { r.wait_inputs_on(stream); });
}

int PMPIX_Tide_wait_enqueue(MPIX_Tide_request* request, void* stream) {
  if (const int code = check_pointer(request)) return code;
  if (*request == MPIX_TIDE_REQUEST_NULL) return MPI_SUCCESS;
  const MPIX_Tide_request handle = *request;
  return guard(handle, [&](Request& r) {
    const bool keep = r.persistent();
    r.wait_on(stream);
    if (keep) return;
    requests().remove(handle);
    *request = MPIX_TIDE_REQUEST_NULL;
  });
}

int PMPIX_Tide_group_async_error(MPIX_Tide_group group, int* code) {
  return guard(group, [&](Group& g) {
    if (!code) throw Error(Kind::arg, "code is NULL; pass the address of an int");
    const auto error = g.async_error();
    *code = error ? error_code(error->kind(), error->what()) : MPI_SUCCESS;
  });
}
}

TIDE_ALIAS(allgather_enqueue)
TIDE_ALIAS(reduce_scatter_enqueue)
TIDE_ALIAS(start_enqueue)
TIDE_ALIAS(wait_inputs_enqueue)
TIDE_ALIAS(wait_enqueue)
TIDE_ALIAS(group_async_error)
