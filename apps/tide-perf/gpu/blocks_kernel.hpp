// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "block_times.hpp"

// The probe's kernel: plain functions, as a .cu file of C++17 reads them, too.
namespace perf::gpu {

/// Before the first launch: each block will take `shared_bytes` of shared memory.
cudaError_t prepare_blocks(int shared_bytes);

/// Blocks that do nothing for `ns`, then write when they began and ended, and where.
cudaError_t launch_blocks(BlockTimes* times, unsigned blocks, int shared_bytes, std::uint64_t ns,
                          cudaStream_t stream);

}  // namespace perf::gpu
