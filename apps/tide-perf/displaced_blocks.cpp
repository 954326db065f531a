// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "displaced_blocks.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "statistics.hpp"

namespace perf {
namespace {

// By start.
std::vector<BlockTimes> launch_of(const std::vector<BlockTimes>& times, std::size_t blocks,
                                  std::size_t launch) {
  const auto first = times.begin() + static_cast<std::ptrdiff_t>(launch * blocks);
  std::vector<BlockTimes> one(first, first + static_cast<std::ptrdiff_t>(blocks));
  std::sort(one.begin(), one.end(),
            [](const BlockTimes& a, const BlockTimes& b) { return a.begin_ns < b.begin_ns; });
  return one;
}

std::uint64_t end_of(const std::vector<BlockTimes>& launch) {
  std::uint64_t end = 0;
  for (const BlockTimes& b : launch) end = std::max(end, b.end_ns);
  return end;
}

// The clock counts from 1970: a double would not hold its time to the nanosecond.
double ns_between(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(static_cast<std::int64_t>(to - from));
}

}  // namespace

double usual_gap_ns(const std::vector<BlockTimes>& times, std::size_t blocks) {
  std::vector<double> gaps;
  for (std::size_t launch = 1; launch < times.size() / blocks; ++launch) {
    const std::uint64_t before = end_of(launch_of(times, blocks, launch - 1));
    for (const BlockTimes& b : launch_of(times, blocks, launch))
      gaps.push_back(ns_between(before, b.begin_ns));
  }
  return summarise(std::move(gaps)).median;
}

void add_displaced(const std::vector<BlockTimes>& times, std::size_t blocks, double gap_ns,
                   Displaced& sum) {
  for (std::size_t launch = 1; launch < times.size() / blocks; ++launch) {
    const std::uint64_t before = end_of(launch_of(times, blocks, launch - 1));
    const std::vector<BlockTimes> one = launch_of(times, blocks, launch);
    std::set<std::uint64_t> used;
    for (const BlockTimes& b : one) {
      const double delay_ns = ns_between(before, b.begin_ns) - gap_ns;
      const bool second = !used.insert(b.multiprocessor).second;
      if (!second && delay_ns <= displaced_after_ns) continue;
      ++sum.displaced;
      sum.delays_s.push_back(std::max(0.0, delay_ns) * 1e-9);
    }
    if (ns_between(before, one.front().begin_ns) - gap_ns > displaced_after_ns) ++sum.late;
    sum.blocks += blocks;
    ++sum.launches;
  }
}

}  // namespace perf
