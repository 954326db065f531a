// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpix_tide.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "group.hpp"
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
  bool on_device = false;  // memory of a GPU

  void* operator[](int p) const { return ptrs[static_cast<std::size_t>(p)]; }
};

enum class What { full, shard };

/// Private storage for all rows (full) or this rank's rows (shard) of every parameter, on the host
/// or on the device in use.
Storage make_private(const Layout& layout, What what, int rank, int dtype, bool on_device = false);

/// The same in memory that `allocate` gives.
Storage make_in(const Layout& layout, What what, int rank, int dtype, bool on_device,
                const std::function<Bytes(std::int64_t)>& allocate);

/// The same from MPIX_Tide_group_alloc with the info `keys`.  Collective; throws AgreedError on all
/// ranks.
Storage make_tide(MPI_Comm comm, MPIX_Tide_group group, int what, int dtype, const Keys& keys);

/// The first bytes at storage[p] for reading: themselves, or a copy of device memory.
std::shared_ptr<const char[]> on_host(const Storage& storage, int p, std::int64_t bytes);

/// Lets `write` fill the first bytes at storage[p]: in place, or on the way to the device.
void write(const Storage& storage, int p, std::int64_t bytes,
           const std::function<void(void*)>& write);

/// Bytes that the node can still give, from /proc/meminfo; -1 where that is unknown.
std::int64_t available_bytes();

}  // namespace perf
