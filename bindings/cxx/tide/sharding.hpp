// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Replicas, norms, whole parameters.  Lists are checked as a Group's own calls do.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <tide/group.hpp>

namespace tide {
inline namespace cxx0 {

namespace detail {

// A wrong list is not passed on: the call then fails on all ranks and none waits for this one.
inline void* const* or_null(void* const* list, const std::string& wrong) {
  static void* const nothing = nullptr;  // where an empty list has no address
  return !wrong.empty() ? nullptr : list ? list : &nothing;
}

inline std::string wrong_shards(const Group& group, const std::vector<Extent>& have, Dtype dtype,
                                bool skip_frozen) {
  return group ? group.description().wrong("shards", have, What::shard, dtype, skip_frozen) : "";
}

// All rows, in the shard type.
inline std::string wrong_whole(const Group& group, const std::vector<Extent>& have) {
  if (!group || have.size() != group.params().size())
    return group ? group.description().wrong("params", have, What::full, Dtype::own, false) : "";
  for (std::size_t p = 0; p < have.size(); p++) {
    Extent want = group.extent(p, What::full);
    want.dtype = group.extent(p, What::shard).dtype;
    if (have[p].dtype != Dtype::own && have[p] != want)
      return "params: parameter " + std::to_string(p) + ": the piece has " +
             std::to_string(have[p].elems) + " elements of " + name(have[p].dtype) + ", " +
             std::to_string(want.elems) + " of " + name(want.dtype) + " are needed; pass all rows";
  }
  return {};
}

}  // namespace detail

/// Sums this rank's shards over the replicas, in place.  dtype: of all shards; Dtype::own: each
/// parameter's shard type.
inline void replica_allreduce(const Group& group, const Outputs& shards, MPI_Comm replica, Op op,
                              double scale = 1.0, Dtype dtype = Dtype::own) {
  const std::string wrong = detail::wrong_shards(group, shards.extents(), dtype, true);
  detail::check(MPIX_Tide_replica_allreduce(detail::or_null(shards.pointers(), wrong),
                                            static_cast<int>(dtype), static_cast<int>(op), scale,
                                            group.handle(), replica),
                wrong);
}
[[nodiscard]] inline Request ireplica_allreduce(const Group& group, const Outputs& shards,
                                                MPI_Comm replica, Op op, double scale = 1.0,
                                                Dtype dtype = Dtype::own) {
  const std::string wrong = detail::wrong_shards(group, shards.extents(), dtype, true);
  MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
  detail::check(MPIX_Tide_ireplica_allreduce(detail::or_null(shards.pointers(), wrong),
                                             static_cast<int>(dtype), static_cast<int>(op), scale,
                                             group.handle(), replica, &request),
                wrong);
  return Request(request, wrong);
}
/// On a stream: UNSUPPORTED in this version.
inline void replica_allreduce_enqueue(const Group& group, const Outputs& shards, MPI_Comm replica,
                                      Op op, double scale, Dtype dtype, void* stream) {
  check(MPIX_Tide_replica_allreduce_enqueue(shards.pointers(), static_cast<int>(dtype),
                                            static_cast<int>(op), scale, group.handle(), replica,
                                            stream));
}

/// A group with this rank's shards.
struct Sharded {
  const Group& group;
  const Outputs& shards;
};
/// The Euclidean norm of all of them, over the communicator that they are sharded over.
inline double norm2(MPI_Comm shard, std::span<const Sharded> all, Dtype dtype = Dtype::own) {
  std::vector<MPIX_Tide_group> groups;
  std::vector<void* const*> lists;
  std::string wrong;
  for (const Sharded& one : all) {
    const std::string mine = detail::wrong_shards(one.group, one.shards.extents(), dtype, true);
    groups.push_back(one.group.handle());
    lists.push_back(detail::or_null(one.shards.pointers(), mine));
    if (wrong.empty()) wrong = mine;
  }
  double norm = 0;
  detail::check(MPIX_Tide_norm2(shard, static_cast<int>(groups.size()), groups.data(), lists.data(),
                                static_cast<int>(dtype), &norm),
                wrong);
  return norm;
}
inline double norm2(MPI_Comm shard, std::initializer_list<Sharded> all, Dtype dtype = Dtype::own) {
  return norm2(shard, std::span(all.begin(), all.size()), dtype);
}

/// params: all rows, in the shard type; looked at on root only.
inline void scatter(const Group& group, int root, const Inputs& params, const Outputs& shards) {
  std::string wrong = detail::wrong_shards(group, shards.extents(), Dtype::own, false);
  const bool here = group && group.description().rank() == root;
  if (wrong.empty() && here) wrong = detail::wrong_whole(group, params.extents());
  detail::check(MPIX_Tide_scatter(root, params.pointers(),
                                  detail::or_null(shards.pointers(), wrong), group.handle()),
                wrong);
}
/// params: on root only.
inline void gather(const Group& group, int root, const Inputs& shards, const Outputs& params) {
  static const void* const nothing = nullptr;
  std::string wrong = detail::wrong_shards(group, shards.extents(), Dtype::own, false);
  const bool here = group && group.description().rank() == root;
  if (wrong.empty() && here) wrong = detail::wrong_whole(group, params.extents());
  const void* const* in = shards.size() ? shards.pointers() : &nothing;
  detail::check(
      MPIX_Tide_gather(root, wrong.empty() ? in : nullptr, params.pointers(), group.handle()),
      wrong);
}

}  // namespace cxx0
}  // namespace tide
