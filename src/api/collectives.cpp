// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The collectives: blocking, nonblocking and persistent.
#include "api/arguments.hpp"
#include "api/guard.hpp"
#include "api/next_call.hpp"

using namespace tide;

namespace {

int call(MPIX_Tide_group group, Arguments a) {
  const ToldLists lists = take_lists();
  return guard(group, [&](Group& g) {
    compare(g, lists, a);
    run(g.shared_from_this(), a);
  });
}

// A request that is started (nonblocking), or may be (persistent).
int make(MPIX_Tide_group group, Arguments a, bool persistent, MPIX_Tide_request* request) {
  const ToldLists lists = take_lists();
  return guard(group, [&](Group& g) {
    compare(g, lists, a);
    if (!request) throw Error(Kind::arg, "request is NULL; pass the address of a handle");
    auto made = std::make_shared<Request>(g.shared_from_this(), a, persistent);
    if (!persistent) made->start();
    *request = requests().add(std::move(made));
  });
}

}  // namespace

extern "C" {

int PMPIX_Tide_allgather(const void* const* shards, void* const params[], MPIX_Tide_group group) {
  return call(group, gather_arguments(shards, params));
}

int PMPIX_Tide_reduce_scatter(const void* const* grads, void* const shards[], int out_dtype, int op,
                              double scale, MPIX_Tide_group group) {
  return call(group, reduce_arguments(grads, shards, out_dtype, op, scale));
}

int PMPIX_Tide_iallgather(const void* const* shards, void* const params[], MPIX_Tide_group group,
                          MPIX_Tide_request* request) {
  return make(group, gather_arguments(shards, params), false, request);
}

int PMPIX_Tide_ireduce_scatter(const void* const* grads, void* const shards[], int out_dtype,
                               int op, double scale, MPIX_Tide_group group,
                               MPIX_Tide_request* request) {
  return make(group, reduce_arguments(grads, shards, out_dtype, op, scale), false, request);
}

int PMPIX_Tide_allgather_init(const void* const* shards, void* const params[],
                              MPIX_Tide_group group, MPI_Info, MPIX_Tide_request* request) {
  return make(group, gather_arguments(shards, params), true, request);
}

int PMPIX_Tide_reduce_scatter_init(const void* const* grads, void* const shards[], int out_dtype,
                                   int op, double scale, MPIX_Tide_group group, MPI_Info,
                                   MPIX_Tide_request* request) {
  return make(group, reduce_arguments(grads, shards, out_dtype, op, scale), true, request);
}
}

TIDE_ALIAS(allgather)
TIDE_ALIAS(reduce_scatter)
TIDE_ALIAS(iallgather)
TIDE_ALIAS(ireduce_scatter)
TIDE_ALIAS(allgather_init)
TIDE_ALIAS(reduce_scatter_init)
