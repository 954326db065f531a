// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a group's lists must hold on this rank.
#pragma once
#include <tide/cxx20.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <tide/error.hpp>
#include <tide/lists.hpp>

namespace tide {
inline namespace cxx0 {

enum class What : int { full = MPIX_TIDE_FULL, shard = MPIX_TIDE_SHARD, grad = MPIX_TIDE_GRAD };

namespace detail {

class Description {
 public:
  Description() = default;
  Description(MPIX_Tide_group group, int rank, std::span<const Param> params)
      : rank_(rank), params_(params.begin(), params.end()) {
    for (std::size_t p = 0; p < params.size(); p++) {
      MPI_Count rows = 0;
      check(MPIX_Tide_group_shard(group, static_cast<int>(p), rank, nullptr, &rows), {});
      shard_elems_.push_back(static_cast<std::size_t>(rows * params[p].row_elems));
    }
  }

  int rank() const noexcept { return rank_; }
  const std::vector<Param>& params() const noexcept { return params_; }

  // Of a frozen parameter's gradient: nothing.
  Extent extent(std::size_t p, What what) const {
    if (p >= params_.size())
      throw Error(MPI_ERR_ARG, "parameter " + std::to_string(p) + " of a group of " +
                                   std::to_string(params_.size()) + "; they count from 0");
    const Param& param = params_[p];
    int dtype = param.dtype;
    if (param.types && what != What::full)
      dtype = what == What::shard ? param.types & 0xff : param.types >> 8;
    if (dtype == MPIX_TIDE_NOGRAD) return {};
    const auto all = static_cast<std::size_t>(param.rows * param.row_elems);
    return {what == What::shard ? shard_elems_[p] : all, static_cast<Dtype>(dtype)};
  }

  // What is wrong with a list, "" if nothing.  dtype: of all pieces, or Dtype::own.  A frozen
  // parameter's entries are ignored in a reduce-scatter, and nullptr is judged by the call.
  std::string wrong(const char* list, const std::vector<Extent>& have, What what, Dtype dtype,
                    bool reduce) const {
    const std::string start = "rank " + std::to_string(rank_) + ": " + list;
    if (have.size() != params_.size())
      return start + " has " + std::to_string(have.size()) + " pieces, the group has " +
             std::to_string(params_.size()) + " parameters; pass one piece for each";
    for (std::size_t p = 0; p < have.size(); p++) {
      if (have[p].dtype == Dtype::own || (reduce && frozen(p))) continue;
      Extent want = extent(p, what);
      if (dtype != Dtype::own) want.dtype = dtype;
      if (have[p] != want)
        return start + ": parameter " + std::to_string(p) + ": the piece has " + words(have[p]) +
               ", " + words(want) + " are needed; pass " +
               (what == What::shard ? "this rank's rows" : "all rows");
    }
    return {};
  }

 private:
  bool frozen(std::size_t p) const { return params_[p].types >> 8 == MPIX_TIDE_NOGRAD; }
  static std::string words(const Extent& extent) {
    return std::to_string(extent.elems) + " elements of " + name(extent.dtype);
  }

  int rank_ = 0;
  std::vector<Param> params_;
  std::vector<std::size_t> shard_elems_;
};

}  // namespace detail
}  // namespace cxx0
}  // namespace tide
