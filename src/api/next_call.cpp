// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "api/next_call.hpp"

#include <algorithm>
#include <utility>

#include "core/call.hpp"

namespace tide {

static thread_local NextLists next_lists;
static thread_local NextLengths next_lengths;

NextLists take_lists() { return std::exchange(next_lists, {}); }
NextLengths take_lengths() { return std::exchange(next_lengths, {}); }

namespace {

Status wrong(const Group& group, Fault fault, int64_t param, int64_t value) {
  return {group.context().comm_rank(), static_cast<int16_t>(Kind::buffer), fault,
          static_cast<int32_t>(param),
          static_cast<int32_t>(std::clamp<int64_t>(value, 0, INT32_MAX))};
}

bool holds(int type, Dtype dtype) {
  const bool two_bytes = dtype == Dtype::bf16 || dtype == Dtype::fp16;
  return type == 0 || type == static_cast<int>(dtype) || (type == MPIX_TIDE_TWO_BYTES && two_bytes);
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
    if (!holds(type, type_of(a, param, input)))
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

}  // namespace tide

extern "C" {

void PMPIX_Tide_next_lists(const MPIX_Tide_arrays* inputs, const MPIX_Tide_arrays* outputs) {
  tide::next_lists = {};
  if (inputs) tide::next_lists.inputs = *inputs;
  if (outputs) tide::next_lists.outputs = *outputs;
}

void PMPIX_Tide_next_lengths(MPI_Count array, MPI_Count first_row) {
  tide::next_lengths = {array, first_row};
}
}
