// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Rows of a sum that stand on another device, or in pinned host memory, are brought near by copy
// engines, part by part, while the part before is summed: a block that reads them itself holds its
// multiprocessor for as long as the link takes.
#pragma once
#include <memory>
#include <vector>

#include "backend/cuda/gpu.hpp"

namespace tide::gpu {

// Device memory that parts take turns in: part k has slot k % slots.
class Scratch {
 public:
  static constexpr size_t slots = 3;
  explicit Scratch(Stream& stream, size_t slot_bytes = size_t{8} << 20)
      : stream_(stream), slot_bytes_(slot_bytes) {}
  size_t slot_bytes() const { return slot_bytes_; }
  char* slot(size_t part);  // made at the first question.  Error{device}

 private:
  Stream& stream_;
  const size_t slot_bytes_;
  std::shared_ptr<void> memory_;
};

struct Part {
  std::shared_ptr<Program> copies;
  std::vector<std::shared_ptr<Program>> sums;  // after them
};

// Programs of pieces of equal types.
std::vector<std::shared_ptr<Program>> summing(std::vector<Summing> pieces,
                                              const std::vector<int>& groups, Stream& stream);
// The same of what has long far rows, which it takes out of `pieces`.
std::vector<Part> fetching(std::vector<Summing>& pieces, const std::vector<int>& groups, int device,
                           Stream& fetch, Stream& stream, Scratch& scratch);
void run(const std::vector<Part>& parts, Stream& fetch, Stream& stream,
         const Arithmetic& arithmetic, int ctas);

}  // namespace tide::gpu
