// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Gradient shards over replicas, and norms over shards.
#include "core/replicas.hpp"

#include "api/guard.hpp"
#include "api/next_call.hpp"
#include "core/norm.hpp"
#include "core/stream_order.hpp"

using namespace tide;

namespace {

std::shared_ptr<Group> live(MPIX_Tide_group group) {
  auto found = groups().find(group);
  if (!found)
    throw Error(Kind::arg,
                "group: not a live group (null, or freed); pass one from MPIX_Tide_group_create");
  return found;
}

std::unique_ptr<Request> started(MPIX_Tide_group group, const ReplicaArguments& arguments) {
  const auto found = live(group);
  auto request = found->replicas().request(*found, arguments);
  request->start();
  return request;
}

}  // namespace

extern "C" {

int PMPIX_Tide_replica_allreduce(void* const shards[], int dtype, int op, double scale,
                                 MPIX_Tide_group group, MPI_Comm replica) {
  return guard(replica, [&] {
    const auto request = started(group, {shards, dtype, op, scale, replica, take_wrong_list()});
    request->wait();
    request->end();
    request->complete();
  });
}

int PMPIX_Tide_ireplica_allreduce(void* const shards[], int dtype, int op, double scale,
                                  MPIX_Tide_group group, MPI_Comm replica,
                                  MPIX_Tide_request* request) {
  return guard(replica, [&] {
    if (!request) throw Error(Kind::arg, "request is NULL; pass the address of a handle");
    *request =
        requests().add(started(group, {shards, dtype, op, scale, replica, take_wrong_list()}));
  });
}

int PMPIX_Tide_replica_allreduce_enqueue(void* const shards[], int dtype, int op, double scale,
                                         MPIX_Tide_group group, MPI_Comm replica, void* stream) {
  return guard(replica, [&] {
    const auto found = live(group);
    check_stream(*found);
    const gpu::DuringCapture during;
    const auto request =
        found->replicas().request(*found, {shards, dtype, op, scale, replica, take_wrong_list()});
    request->start_on(stream);
    request->wait_on(stream);
  });
}

int PMPIX_Tide_norm2(MPI_Comm shard, int ngroups, const MPIX_Tide_group list[],
                     void* const* const shards[], int dtype, double* norm2) {
  return guard(shard, [&] {
    NormArguments a{shards, dtype, norm2 != nullptr, {}, take_wrong()};
    try {
      if (ngroups < 0) throw Error(Kind::count, "ngroups is {}; pass at least 0", ngroups);
      if (ngroups && !list)
        throw Error(Kind::arg, "groups is NULL although ngroups is {}; pass an array", ngroups);
      for (int g = 0; g < ngroups; g++) a.groups.push_back(live(list[g]));
    } catch (const Error& e) {
      if (!a.wrong) a.wrong = e;
    }
    const double result = norm_of(shard, a);
    *norm2 = result;
  });
}
}

TIDE_ALIAS(replica_allreduce)
TIDE_ALIAS(ireplica_allreduce)
TIDE_ALIAS(replica_allreduce_enqueue)
TIDE_ALIAS(norm2)
