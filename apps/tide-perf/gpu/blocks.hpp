// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "block_times.hpp"
#include "gpu/victim.hpp"

namespace perf::gpu {

/// Launches back to back of a kernel with one block for each multiprocessor, of which it takes all
/// the shared memory that a block can have, as a large GEMM does: none can start where anything
/// else is.
class Blocks {
 public:
  Blocks();  // for the device in use

  static constexpr int launches = 200;
  static constexpr int block_us = 100;  // as long as a GEMM of one wave

  int per_launch() const { return per_launch_; }
  std::string words() const;
  Victim& victim() { return *victim_; }
  std::vector<BlockTimes> times() const;  // of the victim's last launch, which has ended

 private:
  int per_launch_ = 0;
  std::shared_ptr<char[]> times_;
  std::unique_ptr<Victim> victim_;
};

}  // namespace perf::gpu
