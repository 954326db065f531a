// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "api/next_call.hpp"

#include <algorithm>
#include <utility>

#include "api/guard.hpp"

namespace tide {

static thread_local ToldLists next_lists;
static thread_local NextLengths next_lengths;
static thread_local std::optional<WrongList> next_wrong;

ToldLists take_lists() { return std::exchange(next_lists, {}); }
NextLengths take_lengths() { return std::exchange(next_lengths, {}); }
std::optional<WrongList> take_wrong_list() { return std::exchange(next_wrong, {}); }

std::optional<Error> take_wrong() {
  const std::optional<WrongList> wrong = take_wrong_list();
  return wrong ? std::optional<Error>(wrong->error) : std::nullopt;
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
    tide::next_wrong = tide::WrongList{
        {error_class == MPI_ERR_COUNT ? tide::Kind::count : tide::Kind::arg, std::string(message)}};
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
