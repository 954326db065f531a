// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Where memory lies.  The library looks at addresses (is it the memory of the last call?), so a
// seed has to bring the same ones again: mappings and the tests' foreign memory are placed by us,
// and what was freed is used again when the seed says so.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace simulator {

class Addresses {
 public:
  explicit Addresses(uintptr_t first) : first_(first), next_(first) {}
  void* take(size_t bytes);  // room for them, page-aligned
  void give(void* at, size_t bytes);
  void begin_again();  // a new run, once nothing is mapped there

 private:
  uintptr_t first_, next_;
  std::map<size_t, std::vector<uintptr_t>> free_;  // by size
};

}  // namespace simulator
