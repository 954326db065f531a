// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Infos, where a communicator lives, and how the library was built.
#pragma once
#include <tide/cxx20.hpp>

#include <initializer_list>
#include <string>
#include <utility>

#include <tide/error.hpp>

namespace tide {
inline namespace cxx0 {

/// An MPI_Info: Info{{"tide_share", "node"}}.
class Info {
 public:
  Info() { detail::check_mpi(MPI_Info_create(&info_)); }
  Info(std::initializer_list<std::pair<const char*, const char*>> pairs) : Info() {
    for (const auto& [key, value] : pairs) detail::check_mpi(MPI_Info_set(info_, key, value));
  }
  ~Info() {
    if (info_ != MPI_INFO_NULL && !detail::finalized()) MPI_Info_free(&info_);
  }
  Info(Info&& other) noexcept : info_(std::exchange(other.info_, MPI_INFO_NULL)) {}
  Info& operator=(Info&& other) noexcept {
    Info taken(std::move(other));
    std::swap(info_, taken.info_);
    return *this;
  }
  operator MPI_Info() const noexcept { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// Collective, as all four.  The new communicators are the caller's, who frees them.
inline MPIX_Tide_topology topology(MPI_Comm comm) {
  MPIX_Tide_topology topology{};
  check(MPIX_Tide_comm_topology(comm, &topology));
  return topology;
}
inline MPI_Comm node_comm(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  check(MPIX_Tide_comm_node(comm, &node));
  return node;
}
inline MPI_Comm rail_comm(MPI_Comm comm) {
  MPI_Comm rail = MPI_COMM_NULL;
  check(MPIX_Tide_comm_rail(comm, &rail));
  return rail;
}
struct Grid {
  MPI_Comm shard = MPI_COMM_NULL, replica = MPI_COMM_NULL;
};
/// shard_size 0: one node.
inline Grid grid_comms(MPI_Comm comm, int shard_size) {
  Grid grid;
  check(MPIX_Tide_comm_grid(comm, shard_size, &grid.shard, &grid.replica));
  return grid;
}

namespace detail {

// The whole text of a function that writes as much as fits and tells how much there is.
template <class Write>
std::string text(Write write) {
  size_t needed = 0;
  check(write(nullptr, size_t{0}, &needed), {});
  std::string text(needed, '\0');
  check(write(text.data(), needed, &needed), {});
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace detail

inline std::string config() { return detail::text(MPIX_Tide_get_config); }

}  // namespace cxx0
}  // namespace tide
