// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A parameter list over a communicator, and its collectives.
#pragma once
#include <tide/cxx20.hpp>

#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tide/communicator.hpp>
#include <tide/description.hpp>
#include <tide/memory.hpp>
#include <tide/request.hpp>

namespace tide {
inline namespace cxx0 {

struct Rows {
  MPI_Count first = 0, count = 0;
};

/// The calls of a group take one piece per parameter.  A list of another length, or a piece of
/// another length or type, is an Error (BUFFER) on all ranks, as any wrong argument is; the rank
/// that passed it is told what was wrong.
class Group {
 public:
  Group() = default;
  /// Collective over comm: the chunk layout.
  Group(MPI_Comm comm, std::span<const Param> params, MPI_Info info = MPI_INFO_NULL) {
    check(MPIX_Tide_group_create(comm, static_cast<int>(params.size()), params.data(), info,
                                 &handle_));
    describe(comm, params);
  }
  Group(MPI_Comm comm, std::initializer_list<Param> params, MPI_Info info = MPI_INFO_NULL)
      : Group(comm, std::span(params.begin(), params.size()), info) {}
  /// Collective over comm: a ragged layout.  first_row: for each parameter N + 1 rows.
  Group(MPI_Comm comm, std::span<const Param> params, std::span<const MPI_Count> first_row,
        MPI_Info info = MPI_INFO_NULL) {
    const std::string wrong = wrong_rows(comm, params.size(), first_row.size());
    detail::check(
        MPIX_Tide_group_create_explicit(comm, static_cast<int>(params.size()), params.data(),
                                        wrong.empty() ? first_row.data() : nullptr, info, &handle_),
        wrong);
    describe(comm, params);
  }
  ~Group() {
    if (handle_ && !detail::finalized()) MPIX_Tide_group_free(&handle_);
  }
  Group(Group&& other) noexcept { swap(other); }
  Group& operator=(Group&& other) noexcept {
    Group taken(std::move(other));
    swap(taken);
    return *this;
  }
  void swap(Group& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(description_, other.description_);
  }

  void allgather(const Inputs& shards, const Outputs& params) const {
    const Lists l = gather(&shards, params);
    detail::check(MPIX_Tide_allgather(l.in, l.out, handle_), l.wrong);
  }
  void allgather(InPlace, const Outputs& params) const {
    const Lists l = gather(nullptr, params);
    detail::check(MPIX_Tide_allgather(l.in, l.out, handle_), l.wrong);
  }
  void reduce_scatter(const Inputs& grads, const Outputs& shards, Op op, double scale = 1.0,
                      Dtype out = Dtype::own) const {
    const Lists l = reduce(grads, shards, out);
    detail::check(MPIX_Tide_reduce_scatter(l.in, l.out, static_cast<int>(out), static_cast<int>(op),
                                           scale, handle_),
                  l.wrong);
  }

  /// Nonblocking.  With a wrong list these throw once the other ranks have started as well.
  [[nodiscard]] Request iallgather(const Inputs& shards, const Outputs& params) const {
    return start_gather(gather(&shards, params));
  }
  [[nodiscard]] Request iallgather(InPlace, const Outputs& params) const {
    return start_gather(gather(nullptr, params));
  }
  [[nodiscard]] Request ireduce_scatter(const Inputs& grads, const Outputs& shards, Op op,
                                        double scale = 1.0, Dtype out = Dtype::own) const {
    const Lists l = reduce(grads, shards, out);
    MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
    check(MPIX_Tide_ireduce_scatter(l.in, l.out, static_cast<int>(out), static_cast<int>(op), scale,
                                    handle_, &request));
    return told(request, l.wrong);
  }

  /// Persistent and inactive.  With a wrong list each wait throws, on all ranks.
  [[nodiscard]] Request allgather_init(const Inputs& shards, const Outputs& params) const {
    return make_gather(gather(&shards, params));
  }
  [[nodiscard]] Request allgather_init(InPlace, const Outputs& params) const {
    return make_gather(gather(nullptr, params));
  }
  [[nodiscard]] Request reduce_scatter_init(const Inputs& grads, const Outputs& shards, Op op,
                                            double scale = 1.0, Dtype out = Dtype::own) const {
    const Lists l = reduce(grads, shards, out);
    MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
    check(MPIX_Tide_reduce_scatter_init(l.in, l.out, static_cast<int>(out), static_cast<int>(op),
                                        scale, handle_, MPI_INFO_NULL, &request));
    return Request(request, l.wrong);
  }

  /// On a stream (a cudaStream_t): UNSUPPORTED in this version.
  void allgather_enqueue(const Inputs& shards, const Outputs& params, void* stream) const {
    const Lists l = gather(&shards, params);
    detail::check(MPIX_Tide_allgather_enqueue(l.in, l.out, handle_, stream), l.wrong);
  }
  void reduce_scatter_enqueue(const Inputs& grads, const Outputs& shards, Op op, double scale,
                              Dtype out, void* stream) const {
    const Lists l = reduce(grads, shards, out);
    detail::check(MPIX_Tide_reduce_scatter_enqueue(l.in, l.out, static_cast<int>(out),
                                                   static_cast<int>(op), scale, handle_, stream),
                  l.wrong);
  }
  /// Throws the first failure of work on a stream.
  void check_enqueued() const {
    int code = MPI_SUCCESS;
    check(MPIX_Tide_group_async_error(handle_, &code));
    check(code);
  }

  /// Collective: one allocation with a piece for each parameter.
  [[nodiscard]] GroupMemory alloc(What what, MPI_Info info = MPI_INFO_NULL,
                                  Dtype dtype = Dtype::own) const {
    const std::size_t n = params().size();
    std::vector<void*> at(n);
    void* base = nullptr;
    MPI_Count bytes = 0;
    const int w = static_cast<int>(what), d = static_cast<int>(dtype);
    check(MPIX_Tide_group_alloc(handle_, w, d, info, at.data(), &base));
    Memory owner = Memory::adopt(base, 0);
    check(MPIX_Tide_group_offsets(handle_, w, d, 64, nullptr, &bytes));
    owner = Memory::adopt(owner.release(), static_cast<std::size_t>(bytes));
    Outputs pieces;
    std::vector<std::size_t> row_elems;
    for (std::size_t p = 0; p < n; p++) {
      Extent extent = description_.extent(p, what);
      if (dtype != Dtype::own && extent.dtype != Dtype::own) extent.dtype = dtype;
      pieces.add({at[p], extent});
      row_elems.push_back(static_cast<std::size_t>(params()[p].row_elems));
    }
    return {std::move(owner), pieces, std::move(row_elems)};
  }

  /// Which rows of a parameter a rank owns.
  Rows shard(int param, int rank) const {
    Rows rows;
    check(MPIX_Tide_group_shard(handle_, param, rank, &rows.first, &rows.count));
    return rows;
  }
  /// This rank's.
  Rows shard(int param) const { return shard(param, description_.rank()); }
  /// How many elements a parameter's piece has on this rank, and of which type.
  Extent extent(std::size_t param, What what) const { return description_.extent(param, what); }
  const std::vector<Param>& params() const noexcept { return description_.params(); }
  /// For functions that check lists of the group.
  const detail::Description& description() const noexcept { return description_; }
  /// The communicator that the group was created over; MPI_COMM_NULL once it was freed.
  MPI_Comm comm() const {
    MPI_Comm comm = MPI_COMM_NULL;
    check(MPIX_Tide_group_get(handle_, &comm, nullptr, nullptr));
    return comm;
  }
  MPIX_Tide_sizes sizes() const {
    MPIX_Tide_sizes sizes{};
    check(MPIX_Tide_group_sizes(handle_, &sizes));
    return sizes;
  }
  /// JSON: the paths taken, and why not better ones.
  std::string report() const {
    return detail::text([this](char* json, size_t size, size_t* needed) {
      return MPIX_Tide_group_report(handle_, json, size, needed);
    });
  }
  /// Names of the parameters in messages.
  void set_names(std::initializer_list<const char*> names, const char* prefix = nullptr) {
    if (names.size() != params().size())
      throw Error(MPI_ERR_ARG, "Group::set_names: " + std::to_string(names.size()) + " names for " +
                                   std::to_string(params().size()) +
                                   " parameters; pass one for each");
    check(MPIX_Tide_group_set_names(handle_, prefix, names.begin()));
  }

  /// For the C interface.
  MPIX_Tide_group handle() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != MPIX_TIDE_GROUP_NULL; }

 private:
  struct Lists {
    const void* const* in = nullptr;
    void* const* out = nullptr;
    std::string wrong;
  };
  // Wrong lists are not passed on: the call then fails on all ranks and none waits for this one.
  Lists lists(const void* const* in, void* const* out, std::string wrong) const {
    if (wrong.empty() || !handle_) return {in, out, {}};  // of no group: the call says so
    return {nullptr, nullptr, std::move(wrong)};
  }
  Lists gather(const Inputs* shards, const Outputs& params) const {
    std::string wrong;
    if (shards)
      wrong = description_.wrong("shards", shards->extents(), What::shard, Dtype::own, false);
    if (wrong.empty())
      wrong = description_.wrong("params", params.extents(), What::full, Dtype::own, false);
    return lists(shards ? shards->pointers() : MPIX_TIDE_IN_PLACE, params.pointers(),
                 std::move(wrong));
  }
  Lists reduce(const Inputs& grads, const Outputs& shards, Dtype out) const {
    std::string wrong = description_.wrong("grads", grads.extents(), What::grad, Dtype::own, true);
    if (wrong.empty())
      wrong = description_.wrong("shards", shards.extents(), What::shard, out, true);
    return lists(grads.pointers(), shards.pointers(), std::move(wrong));
  }

  Request start_gather(const Lists& l) const {
    MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
    check(MPIX_Tide_iallgather(l.in, l.out, handle_, &request));
    return told(request, l.wrong);
  }
  Request make_gather(const Lists& l) const {
    MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
    check(MPIX_Tide_allgather_init(l.in, l.out, handle_, MPI_INFO_NULL, &request));
    return Request(request, l.wrong);
  }
  static Request told(MPIX_Tide_request handle, const std::string& wrong) {
    if (!wrong.empty()) detail::check(MPIX_Tide_wait(&handle), wrong);
    return Request(handle);
  }

  static std::string wrong_rows(MPI_Comm comm, std::size_t params, std::size_t rows) {
    int ranks = 0;
    int begun = 0;
    MPI_Initialized(&begun);
    if (comm == MPI_COMM_NULL || !begun || detail::finalized()) return {};  // the call says so
    MPI_Comm_size(comm, &ranks);
    const std::size_t want = params * (static_cast<std::size_t>(ranks) + 1);
    if (rows == want) return {};
    return "first_row has " + std::to_string(rows) + " rows, " + std::to_string(want) +
           " are needed; pass ranks + 1 for each parameter";
  }
  void describe(MPI_Comm comm, std::span<const Param> params) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    description_ = detail::Description(handle_, rank, params);
  }

  MPIX_Tide_group handle_ = MPIX_TIDE_GROUP_NULL;
  detail::Description description_;
};

}  // namespace cxx0
}  // namespace tide
