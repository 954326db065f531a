// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// A reduction by few blocks that stay: plain structs, as a .cu file of C++17 reads them, too.
namespace perf::gpu {

constexpr unsigned resident_blocks = 16;  // as many as NCCL has on NVLink
constexpr int most_resident_rows = 64;

struct ResidentRows {
  const void* row[most_resident_rows];
  int rows;
};

/// dst = row 0 + row 1 + ..., `count` elements of fp32, or of fp64 where `wide`.
cudaError_t launch_resident(const ResidentRows& rows, void* dst, std::uint64_t count, bool wide,
                            cudaStream_t stream);

}  // namespace perf::gpu
