// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "addresses.hpp"

#include "schedule.hpp"

namespace simulator {

constexpr size_t page_bytes = 4096;

static size_t pages(size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

void* Addresses::take(size_t bytes) {
  auto& same = free_[pages(bytes)];
  uintptr_t at = next_;
  if (!same.empty() && schedule()->chance(2) == 0) {
    at = same.back();
    same.pop_back();
  } else {
    next_ += pages(bytes) + page_bytes;  // a page between them stays empty
  }
  return reinterpret_cast<void*>(at);
}

void Addresses::give(void* at, size_t bytes) {
  free_[pages(bytes)].push_back(reinterpret_cast<uintptr_t>(at));
}

void Addresses::begin_again() {
  free_.clear();
  next_ = first_;
}

}  // namespace simulator
