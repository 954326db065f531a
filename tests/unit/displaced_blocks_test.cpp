// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "displaced_blocks.hpp"

#include <gtest/gtest.h>

using namespace perf;

namespace {

constexpr std::size_t blocks = 4;
constexpr std::uint64_t block_ns = 100000, gap_ns = 1500;

// Launches back to back as they are with nothing beside them.
std::vector<BlockTimes> undisturbed(std::size_t launches) {
  std::vector<BlockTimes> times;
  std::uint64_t begin = 1796000000000000001;
  for (std::size_t launch = 0; launch < launches; ++launch, begin += block_ns + gap_ns)
    for (std::uint64_t b = 0; b < blocks; ++b) times.push_back({begin, begin + block_ns, b});
  return times;
}

void delay(std::vector<BlockTimes>& times, std::size_t first, std::size_t count, std::uint64_t ns) {
  for (std::size_t b = first; b < first + count; ++b) {
    times[b].begin_ns += ns;
    times[b].end_ns += ns;
  }
}

Displaced displaced_of(const std::vector<BlockTimes>& times) {
  Displaced d;
  add_displaced(times, blocks, usual_gap_ns(undisturbed(3), blocks), d);
  return d;
}

}  // namespace

TEST(DisplacedTest, UsualGap) {
  EXPECT_EQ(usual_gap_ns(undisturbed(3), blocks), gap_ns);
  EXPECT_EQ(usual_gap_ns(undisturbed(1), blocks), 0);
}

TEST(DisplacedTest, NoneAlone) {
  const Displaced d = displaced_of(undisturbed(3));
  EXPECT_EQ(d.blocks, 2 * blocks);  // the first launch follows none
  EXPECT_EQ(d.launches, 2u);
  EXPECT_EQ(d.displaced, 0u);
  EXPECT_EQ(d.late, 0u);
}

TEST(DisplacedTest, OneThatWaits) {
  std::vector<BlockTimes> times = undisturbed(2);
  delay(times, blocks, 1, 30000);
  const Displaced d = displaced_of(times);
  EXPECT_EQ(d.displaced, 1u);
  EXPECT_EQ(d.late, 0u);
  ASSERT_EQ(d.delays_s.size(), 1u);
  EXPECT_DOUBLE_EQ(d.delays_s[0], 30e-6);
}

TEST(DisplacedTest, ALittleLateIsNotDisplaced) {
  std::vector<BlockTimes> times = undisturbed(2);
  delay(times, blocks, 1, 5000);
  EXPECT_EQ(displaced_of(times).displaced, 0u);
  delay(times, blocks, 1, 1);
  EXPECT_EQ(displaced_of(times).displaced, 1u);
}

TEST(DisplacedTest, AllOfALaunch) {
  std::vector<BlockTimes> times = undisturbed(3);
  delay(times, 2 * blocks, blocks, 7000);
  const Displaced d = displaced_of(times);
  EXPECT_EQ(d.displaced, blocks);
  EXPECT_EQ(d.late, 1u);
}

// The launch after a displaced block waits for that one's end, and is not late itself.
TEST(DisplacedTest, TheNextLaunchIsMeasuredFromTheEndOfThisOne) {
  std::vector<BlockTimes> times = undisturbed(3);
  delay(times, blocks, 1, 30000);
  delay(times, 2 * blocks, blocks, 30000);
  EXPECT_EQ(displaced_of(times).displaced, 1u);
}

TEST(DisplacedTest, TheSecondOnAMultiprocessor) {
  std::vector<BlockTimes> times = undisturbed(2);
  times[blocks].multiprocessor = 3;  // which it shares with the last block
  times[blocks].begin_ns += 1;       // and came after it
  const Displaced d = displaced_of(times);
  EXPECT_EQ(d.displaced, 1u);
  ASSERT_EQ(d.delays_s.size(), 1u);
  EXPECT_DOUBLE_EQ(d.delays_s[0], 1e-9);
}

TEST(DisplacedTest, SumsOfSeveralRuns) {
  Displaced d;
  add_displaced(undisturbed(3), blocks, gap_ns, d);
  add_displaced(undisturbed(2), blocks, gap_ns, d);
  EXPECT_EQ(d.launches, 3u);
  EXPECT_EQ(d.blocks, 3 * blocks);
}
