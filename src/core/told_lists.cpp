// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/told_lists.hpp"

#include <algorithm>

#include "core/dtype_name.hpp"

namespace tide {

bool may_hold(int type, Dtype dtype) {
  const bool two_bytes = dtype == Dtype::bf16 || dtype == Dtype::fp16;
  return type == 0 || type == static_cast<int>(dtype) || (type == MPIX_TIDE_TWO_BYTES && two_bytes);
}

namespace {

struct Misfit {
  enum { none, length, elems, type } what = none;
  int param = -1;
  int64_t given = 0, wanted = 0;
};

// The first entry that is not what belongs there; type_of: by parameter.
template <class TypeOf>
Misfit first_misfit(const Group& group, const MPIX_Tide_arrays& list, bool all_rows,
                    bool skip_nograd, TypeOf type_of) {
  const auto& params = group.params();
  const auto count = static_cast<int>(params.size());
  if (list.count != count) return {Misfit::length, -1, list.count, count};
  for (int p = 0; p < count; p++) {
    const Param& param = params[static_cast<size_t>(p)];
    if (skip_nograd && param.frozen) continue;
    const int64_t elems = list.elems ? list.elems[p] : -1;
    const int64_t wanted =
        all_rows ? param.elems()
                 : group.rows_of(p, group.context().comm_rank()) * param.shape.row_elems;
    if (elems >= 0 && (all_rows ? elems != wanted : elems < wanted))
      return {Misfit::elems, p, elems, wanted};
    const int type = wanted && list.dtypes ? list.dtypes[p] : 0;
    if (!may_hold(type, type_of(param)))
      return {Misfit::type, p, type, static_cast<int64_t>(type_of(param))};
  }
  return {};
}

// As a word that travels with the call; the other ranks know what is wanted.
Status compare_list(const Group& group, const Arguments& a, const MPIX_Tide_arrays& list,
                    bool input) {
  const Misfit m = first_misfit(group, list, input == a.reduce, a.reduce,
                                [&](const Param& param) { return type_of(a, param, input); });
  const auto status = [&](Fault of_input, Fault of_output) {
    return Status{group.context().comm_rank(), static_cast<int16_t>(Kind::buffer),
                  input ? of_input : of_output, m.param,
                  static_cast<int32_t>(std::clamp<int64_t>(m.given, 0, INT32_MAX))};
  };
  switch (m.what) {
    case Misfit::none:
      return {};
    case Misfit::length:
      return status(Fault::input_length, Fault::output_length);
    case Misfit::elems:
      return status(Fault::input_elems, Fault::output_elems);
    case Misfit::type:
      return status(Fault::input_dtype, Fault::output_dtype);
  }
  return {};
}

}  // namespace

void compare(const Group& group, const ToldLists& lists, Arguments& a) {
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

std::optional<WrongList> compare_whole(const Group& group, bool all_rows, int dtype,
                                       bool skip_nograd, const MPIX_Tide_arrays& list) {
  const Misfit m = first_misfit(group, list, all_rows, skip_nograd,
                                [&](const Param& param) { return param.shard_or(dtype); });
  const std::string name = group.param_name(m.param);
  const std::string which =
      fmt::format("parameter {}{}", m.param, name.empty() ? "" : fmt::format(" ({})", name));
  switch (m.what) {
    case Misfit::none:
      return {};
    case Misfit::length:
      return WrongList{{Kind::buffer,
                        "a list has {} entries but the group has {} parameters; pass one entry per "
                        "parameter",
                        m.given, m.wanted},
                       m.param};
    case Misfit::elems:
      return WrongList{
          {Kind::buffer, "{}: an array of {} elements but {} belong there; pass {}", which, m.given,
           m.wanted, all_rows ? "all rows" : "an array of the rank's rows"},
          m.param};
    case Misfit::type:
      return WrongList{
          {Kind::buffer,
           "{}: an array of type {} but {} belongs there; pass an array of that type, or another "
           "dtype",
           which,
           m.given == MPIX_TIDE_TWO_BYTES ? "bf16 or fp16" : dtype_name(static_cast<int>(m.given)),
           dtype_name(static_cast<int>(m.wanted))},
          m.param};
  }
  return {};
}

}  // namespace tide
