// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

// Calls that follow one another at a rate, where they can.
namespace perf {

struct Pace {
  double interval_s = 0;  // from the start of one call to that of the next; 0: back to back

  /// So that `delivered_bytes` a call come to this rate; 0: as fast as the calls are.
  static Pace of(double delivered_bytes, double bytes_per_s) {
    return {bytes_per_s > 0 ? delivered_bytes / bytes_per_s : 0};
  }

  /// When call `k` starts, after the first one's start; at once where that has passed, so that a
  /// call that took longer is made up for.
  double start_s(std::int64_t k) const { return static_cast<double>(k) * interval_s; }

  /// Of `calls`, the last of which returned after `last_s`: the rest of its interval is its own.
  double seconds_a_call(std::int64_t calls, double last_s) const {
    return std::max(last_s, start_s(calls)) / static_cast<double>(calls);
  }
};

/// What a rank receives of the others' inputs in a call, whichever way it is made: of both
/// collectives (N-1)/N of the list's bytes.
inline double delivered_bytes(double list_bytes, int ranks) {
  return list_bytes * (ranks - 1) / ranks;
}

/// Whether a rate was kept, but for what measuring it costs.
inline bool keeps(double delivered, double asked) { return delivered >= 0.97 * asked; }

}  // namespace perf
