// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

// What a block of the probe's kernel writes: a plain struct, as a .cu file of C++17 reads it, too.
namespace perf {

struct BlockTimes {
  std::uint64_t begin_ns, end_ns;  // of the device's clock
  std::uint64_t multiprocessor;
};

}  // namespace perf
