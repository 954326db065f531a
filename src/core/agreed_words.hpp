// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Numbers that must be equal on all ranks, each with a name for the message.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/context.hpp"

namespace tide {

struct AgreedWords {
  std::vector<int64_t> value;
  std::vector<std::string> name;
  void add(std::string of, int64_t word) {
    name.push_back(std::move(of));
    value.push_back(word);
  }
};

// Collective, inside a Setup: Error{mismatch} on all ranks where a rank's differs from rank 0's,
// with the first name that does.
void compare(Context& context, const AgreedWords& mine, const char* remedy);

}  // namespace tide
