// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "api/guard.hpp"
#include "core/report.hpp"
#include "core/settings.hpp"

using namespace tide;

namespace {

// Collective: a communicator of the user's own, with the user's error handler, as MPI_Comm_split
// gives it.  That has no form that could be timed: all ranks are there when it is called.
void split(Context& context, int color, int key, MPI_Comm* out) {
  context.barrier();
  MPI_Comm made = MPI_COMM_NULL;
  if (MPI_Comm_split(context.user(), color, key, &made) != MPI_SUCCESS)
    throw Error(Kind::intern,
                "MPI_Comm_split failed: MPI has no communicator left; free communicators that are "
                "not in use");
  *out = made;
}

void check_out(Context& context, const void* out, const char* name) {
  context.together([&] {
    if (!out) throw Error(Kind::arg, "{} is NULL; pass the address of a communicator", name);
  });
}

}  // namespace

extern "C" {

int PMPIX_Tide_comm_topology(MPI_Comm comm, MPIX_Tide_topology* topology) {
  return guard(comm, [&] {
    const auto context = Context::of(comm, default_limit_s());
    if (!topology)
      throw Error(Kind::arg, "topology is NULL; pass the address of an MPIX_Tide_topology");
    const Topology& t = context->topology();
    *topology = {};
    topology->nodes = t.nodes();
    topology->local_size = t.size(context->node());
    topology->node = context->node();
    topology->local_rank = t.local(context->rank());
    topology->uniform = t.uniform();
  });
}

int PMPIX_Tide_comm_node(MPI_Comm comm, MPI_Comm* node) {
  return guard(comm, [&] {
    const auto context = Context::of(comm, default_limit_s());
    const Context::Setup setup(*context, default_limit_s(), SetupCall::comm_node);
    check_out(*context, node, "node");
    split(*context, context->node(), context->rank(), node);
  });
}

int PMPIX_Tide_comm_rail(MPI_Comm comm, MPI_Comm* rail) {
  return guard(comm, [&] {
    const auto context = Context::of(comm, default_limit_s());
    const Context::Setup setup(*context, default_limit_s(), SetupCall::comm_rail);
    check_out(*context, rail, "rail");
    split(*context, context->topology().local(context->rank()), context->rank(), rail);
  });
}

int PMPIX_Tide_comm_grid(MPI_Comm comm, int shard_size, MPI_Comm* shard, MPI_Comm* replica) {
  return guard(comm, [&] {
    const auto context = Context::of(comm, default_limit_s());
    const Topology& t = context->topology();
    const Context::Setup setup(*context, default_limit_s(), SetupCall::comm_grid);
    int64_t least[2] = {shard_size, -static_cast<int64_t>(shard_size)};
    context->least(least, 2);
    if (least[0] != -least[1])
      throw Error(Kind::mismatch,
                  "shard_size is {} on one rank and {} on another; pass one number on all ranks",
                  least[0], -least[1]);
    check_out(*context, shard, "shard");
    check_out(*context, replica, "replica");
    if (shard_size == 0 && !t.uniform())
      throw Error(Kind::arg,
                  "shard_size 0 means the node, but nodes have {} to {} ranks; pass a size",
                  t.rails(), t.largest());
    const int size = shard_size ? shard_size : t.largest();
    if (size < 0 || t.ranks() % size)
      throw Error(Kind::arg,
                  "shard_size {} does not divide the {} ranks of the communicator; pass a divisor",
                  shard_size, t.ranks());
    MPI_Comm made = MPI_COMM_NULL;
    split(*context, context->rank() / size, context->rank(), &made);
    split(*context, context->rank() % size, context->rank(), replica);
    *shard = made;
  });
}

int PMPIX_Tide_get_version(int* major, int* minor, int* patch) {
  if (major) *major = MPIX_TIDE_VERSION_MAJOR;
  if (minor) *minor = MPIX_TIDE_VERSION_MINOR;
  if (patch) *patch = MPIX_TIDE_VERSION_PATCH;
  return MPI_SUCCESS;
}

int PMPIX_Tide_get_config(char* text, size_t size, size_t* needed) {
  return guard_local([&] { give_text(config_text(), text, size, needed); });
}
}

TIDE_ALIAS(comm_topology)
TIDE_ALIAS(comm_node)
TIDE_ALIAS(comm_rail)
TIDE_ALIAS(comm_grid)
TIDE_ALIAS(get_version)
TIDE_ALIAS(get_config)
