// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/batch_kernel.hpp"

namespace perf::gpu {

/// A copy of `bytes`, in the widest units that both addresses allow.
Piece copy_piece(void* dst, const void* src, std::int64_t bytes);
/// `elems` elements from one type (MPIX_TIDE_BF16, ...) to another, and zeros up to `padded`.
Piece cast_piece(void* dst, int to, const void* src, int from, std::int64_t elems,
                 std::int64_t padded);

/// Many copies and casts in one launch, as PyTorch's split_with_sizes_copy and chunk_cat are: the
/// table of pieces is on the device already, so that a run is the launch alone.
class Batch {
 public:
  explicit Batch(const std::vector<Piece>& pieces);
  void run(cudaStream_t stream) const;

 private:
  std::shared_ptr<char[]> pieces_, tiles_;
  unsigned ntiles_ = 0;
};

}  // namespace perf::gpu
