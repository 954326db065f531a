// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "api/next_call.hpp"

#include <algorithm>
#include <utility>

#include "api/guard.hpp"
#include "core/call.hpp"
#include "core/dtype_name.hpp"

namespace tide {

static thread_local NextLists next_lists;
static thread_local NextLengths next_lengths;
static thread_local std::optional<Error> next_wrong;

NextLists take_lists() { return std::exchange(next_lists, {}); }
NextLengths take_lengths() { return std::exchange(next_lengths, {}); }
std::optional<Error> take_wrong() { return std::exchange(next_wrong, {}); }

bool may_hold(int type, Dtype dtype) {
  const bool two_bytes = dtype == Dtype::bf16 || dtype == Dtype::fp16;
  return type == 0 || type == static_cast<int>(dtype) || (type == MPIX_TIDE_TWO_BYTES && two_bytes);
}

namespace {

Status wrong(const Group& group, Fault fault, int64_t param, int64_t value) {
  return {group.context().comm_rank(), static_cast<int16_t>(Kind::buffer), fault,
          static_cast<int32_t>(param),
          static_cast<int32_t>(std::clamp<int64_t>(value, 0, INT32_MAX))};
}

// The first entry that is not what belongs there.
Status compare_list(const Group& group, const Arguments& a, const MPIX_Tide_arrays& list,
                    bool input) {
  const auto& params = group.params();
  if (list.count != static_cast<int>(params.size()))
    return wrong(group, input ? Fault::input_length : Fault::output_length, -1, list.count);
  const bool all_rows = input == a.reduce;
  for (int p = 0; p < list.count; p++) {
    const Param& param = params[static_cast<size_t>(p)];
    if (a.reduce && param.frozen) continue;
    const int64_t elems = list.elems ? list.elems[p] : -1;
    const int64_t wanted =
        all_rows ? param.elems()
                 : group.rows_of(p, group.context().comm_rank()) * param.shape.row_elems;
    const bool elems_fit = elems < 0 || (all_rows ? elems == wanted : elems >= wanted);
    if (!elems_fit) return wrong(group, input ? Fault::input_elems : Fault::output_elems, p, elems);
    const int type = wanted && list.dtypes ? list.dtypes[p] : 0;
    if (!may_hold(type, type_of(a, param, input)))
      return wrong(group, input ? Fault::input_dtype : Fault::output_dtype, p, type);
  }
  return {};
}

}  // namespace

void compare(const Group& group, const NextLists& lists, Arguments& a) {
  const auto look = [&](const std::optional<MPIX_Tide_arrays>& list, bool input) {
    if (!list || !a.wrong.good()) return;
    a.wrong = compare_list(group, a, *list, input);
  };
  if (!a.in_place) look(lists.inputs, true);
  look(lists.outputs, false);
  const auto short_of = [&](const std::optional<MPIX_Tide_arrays>& list) {
    return list && list->count != static_cast<int>(group.params().size());
  };
  if (short_of(lists.inputs)) a.inputs = nullptr;
  if (short_of(lists.outputs)) a.outputs = nullptr;
}

Status compare_shards(const Group& group, const MPIX_Tide_arrays& shards) {
  return compare_list(group, {}, shards, true);
}

Status compare_results(const Group& group, const MPIX_Tide_arrays& results) {
  Arguments a;
  a.reduce = true;
  return compare_list(group, a, {results.count, nullptr, results.elems}, false);
}

static std::optional<Error> compare_whole(const Group& group, bool all_rows, int dtype,
                                          bool skip_nograd, const MPIX_Tide_arrays& list) {
  const auto& params = group.params();
  if (list.count != static_cast<int>(params.size()))
    return Error(Kind::buffer,
                 "a list has {} entries but the group has {} parameters; pass one entry per "
                 "parameter",
                 list.count, params.size());
  for (int p = 0; p < list.count; p++) {
    const Param& param = params[static_cast<size_t>(p)];
    if (skip_nograd && param.frozen) continue;
    const int64_t wanted =
        all_rows ? param.elems()
                 : group.rows_of(p, group.context().comm_rank()) * param.shape.row_elems;
    const int64_t elems = list.elems ? list.elems[p] : -1;
    const std::string name = group.param_name(p);
    const std::string which =
        fmt::format("parameter {}{}", p, name.empty() ? "" : fmt::format(" ({})", name));
    if (elems >= 0 && (all_rows ? elems != wanted : elems < wanted))
      return Error(Kind::buffer, "{}: an array of {} elements but {} belong there; pass {}", which,
                   elems, wanted, all_rows ? "all rows" : "an array of the rank's rows");
    const Dtype type = param.shard_or(dtype);
    const int given = wanted && list.dtypes ? list.dtypes[p] : 0;
    if (!may_hold(given, type))
      return Error(Kind::buffer,
                   "{}: an array of type {} but {} belongs there; pass an array of that type, or "
                   "another dtype",
                   which, given == MPIX_TIDE_TWO_BYTES ? "bf16 or fp16" : dtype_name(given),
                   dtype_name(static_cast<int>(type)));
  }
  return {};
}

}  // namespace tide

extern "C" {

void PMPIX_Tide_next_list(MPIX_Tide_group handle, int all_rows, int dtype, int skip_nograd,
                          const MPIX_Tide_arrays* list) {
  const auto group = tide::groups().find(handle);
  if (!group || !list || tide::next_wrong) return;
  tide::next_wrong =
      tide::compare_whole(*group, all_rows != 0, std::max(0, dtype), skip_nograd != 0, *list);
}

void PMPIX_Tide_next_wrong(int error_class, const char* message) {
  if (!tide::next_wrong)
    tide::next_wrong.emplace(error_class == MPI_ERR_COUNT ? tide::Kind::count : tide::Kind::arg,
                             std::string(message));
}

void PMPIX_Tide_next_lists(const MPIX_Tide_arrays* inputs, const MPIX_Tide_arrays* outputs) {
  tide::next_lists = {};
  if (inputs) tide::next_lists.inputs = *inputs;
  if (outputs) tide::next_lists.outputs = *outputs;
}

void PMPIX_Tide_next_lengths(MPI_Count array, MPI_Count first_row) {
  tide::next_lengths = {array, first_row};
}
}
