// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "block_times.hpp"

// Which blocks of a kernel that fills the device once found their multiprocessor taken.
namespace perf {

/// A block is displaced that starts more than this after it could have.
constexpr double displaced_after_ns = 5000;

/// Of some launches back to back.
struct Displaced {
  std::size_t blocks = 0, displaced = 0;
  std::size_t launches = 0, late = 0;  // late: even the first block was
  std::vector<double> delays_s;        // of the displaced blocks
};

/// The usual time from the end of a launch's last block to a block's start in the next launch: the
/// median.  `times`: launch by launch, `blocks` each.  0 for fewer than two launches.
double usual_gap_ns(const std::vector<BlockTimes>& times, std::size_t blocks);

/// Adds the launches after the first to `sum`.  A block could have started `gap_ns` after the last
/// block of the launch before had ended: not the launch's own median, which is late itself where
/// most multiprocessors were taken.  Displaced is also, whenever it starts, a block whose
/// multiprocessor had another block of the launch before it.
void add_displaced(const std::vector<BlockTimes>& times, std::size_t blocks, double gap_ns,
                   Displaced& sum);

}  // namespace perf
