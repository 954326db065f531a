// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpix_tide.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "layout.hpp"

// Buffers of the benchmark.  All are touched when they are made, so that no page is mapped for the
// first time inside a measured call.
namespace perf {

using Bytes = std::shared_ptr<char[]>;

/// Private memory aligned to 4 KiB, filled with `fill`.
Bytes make_bytes(std::int64_t bytes, int fill = 0xff);

/// One pointer per parameter, and what keeps the memory alive.
struct Storage {
  std::vector<void*> ptrs;
  std::shared_ptr<void> owner;

  void* operator[](int p) const { return ptrs[static_cast<std::size_t>(p)]; }
};

enum class What { full, shard };

/// Private storage for all rows (full) or this rank's rows (shard) of every parameter.
Storage make_private(const Layout& layout, What what, int rank, int dtype);

/// The same from MPIX_Tide_group_alloc; `share` is the value of tide_share.  Collective; throws
/// AgreedError on all ranks.
Storage make_tide(MPI_Comm comm, MPIX_Tide_group group, int what, int dtype,
                  const std::string& share);

/// Bytes that the node can still give, from /proc/meminfo; -1 where that is unknown.
std::int64_t available_bytes();

}  // namespace perf
