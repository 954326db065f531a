// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The all-reduce of shards over replicas: the ranks that hold the same rows of a model which is
// sharded over other ranks.  For a replica communicator and an element type a group keeps two
// groups on that communicator, whose parameters are this rank's shards as flat rows: a
// reduce-scatter from the shards into a buffer of Tide's, then an all-gather from there into the
// shards.  Each element is added up by one rank, so all replicas get the same bits.
#pragma once
#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/request.hpp"
#include "core/told_lists.hpp"

namespace tide {

struct ReplicaArguments {
  void* const* shards = nullptr;
  int dtype = 0, op = 0;
  double scale = 1;
  MPI_Comm replica = MPI_COMM_NULL;
  std::optional<WrongList> wrong;  // found already
};

class Replicas {
 public:
  // Collective over the replica communicator: the operation, not yet started.  Waits for the others
  // where the pair of groups is not made yet.  Error on all of its ranks where arguments are wrong
  // or differ; where a peer has the groups already, that peer's wait tells it.  Memory of the first
  // call's kind, the host's or a device's, is what later ones must bring.
  std::unique_ptr<Request> request(Group& group, const ReplicaArguments& arguments);

 private:
  struct Pair {
    std::shared_ptr<Group> reduce, gather;
    std::vector<void*> sums;  // this rank's part of each shard
  };
  const Pair& make(Group& group, Context& context, const ReplicaArguments& arguments);

  std::mutex mutex_;
  // The groups keep the context: its address is not given to another.
  std::map<std::pair<const Context*, int>, Pair> pairs_;
};

}  // namespace tide
