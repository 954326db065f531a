// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "trace_figures.hpp"

#include <gtest/gtest.h>

using namespace perf;
using tools::Activity;

// Nanoseconds since 1970, as devices count them: more than a double holds.
constexpr std::uint64_t now = 1796000000000000001;

static Activity activity(Activity::Kind kind, std::uint64_t from, std::uint64_t to,
                         std::uint64_t blocks = 0, bool copy_engine = false) {
  Activity a;
  a.kind = kind;
  a.copy_engine = copy_engine;
  a.begin_ns = now + from;
  a.end_ns = now + to;
  a.bytes = kind == Activity::kernel ? 0 : 1000;
  a.blocks = blocks;
  return a;
}

TEST(OccupiedTest, NothingHoldsNothing) {
  EXPECT_EQ(occupied_s({}, 132), 0);
  EXPECT_EQ(occupied_s({{now, now, 5}, {now + 2, now + 1, 5}}, 132), 0);
}

TEST(OccupiedTest, OneAfterAnotherAddUp) {
  EXPECT_DOUBLE_EQ(occupied_s({{now + 100, now + 300, 4}, {now, now + 100, 8}}, 132), 1600e-9);
}

TEST(OccupiedTest, TogetherTheyHoldNoMoreThanThereAre) {
  // 100 ns of 80, 100 ns of 132 instead of 160, 100 ns of 80.
  EXPECT_DOUBLE_EQ(occupied_s({{now, now + 200, 80}, {now + 100, now + 300, 80}}, 132), 29200e-9);
  EXPECT_DOUBLE_EQ(occupied_s({{now, now + 200, 60}, {now + 100, now + 300, 60}}, 132), 24000e-9);
}

TEST(OccupiedTest, SmallTimesOfALargeClock) {
  EXPECT_DOUBLE_EQ(occupied_s({{now, now + 1, 1}}, 132), 1e-9);
}

TEST(TraceFiguresTest, CountsByEngine) {
  const TraceFigures f =
      figures_of({activity(Activity::kernel, 0, 10, 7), activity(Activity::copy, 0, 10, 0, true),
                  activity(Activity::copy, 20, 30, 0, true), activity(Activity::copy, 40, 50),
                  activity(Activity::set, 60, 70, 0, true), activity(Activity::set, 80, 90)},
                 132);
  EXPECT_EQ(f[kernels], 1);
  EXPECT_EQ(f[engine_copies], 2);
  EXPECT_EQ(f[engine_bytes], 2000);
  EXPECT_EQ(f[sm_copies], 1);
  EXPECT_EQ(f[sm_bytes], 1000);
  EXPECT_EQ(f[engine_sets], 1);
  EXPECT_EQ(f[sm_sets], 1);
}

TEST(TraceFiguresTest, CopyEnginesTakeNoMultiprocessor) {
  const TraceFigures f = figures_of({activity(Activity::copy, 0, 1000, 0, true)}, 132);
  EXPECT_EQ(f[sm_s], 0);
  EXPECT_EQ(f[kernel_sm_s], 0);
}

TEST(TraceFiguresTest, BlocksAreBoundedAndDriverCopiesTakeAll) {
  const TraceFigures few = figures_of({activity(Activity::kernel, 0, 10, 16)}, 132);
  EXPECT_DOUBLE_EQ(few[sm_s], 160e-9);
  const TraceFigures many = figures_of({activity(Activity::kernel, 0, 10, 4000)}, 132);
  EXPECT_DOUBLE_EQ(many[sm_s], 1320e-9);
  // Behind a kernel of 16 blocks, half beside it.
  const TraceFigures both =
      figures_of({activity(Activity::kernel, 0, 10, 16), activity(Activity::copy, 5, 15)}, 132);
  EXPECT_DOUBLE_EQ(both[sm_s], (5 * 16 + 10 * 132) * 1e-9);
  EXPECT_DOUBLE_EQ(both[kernel_sm_s], 160e-9);
}

TEST(TraceFiguresTest, DevicesAreCountedApart) {
  Activity other = activity(Activity::kernel, 0, 10, 132);
  other.device = 1;
  const TraceFigures f = figures_of({activity(Activity::kernel, 0, 10, 132), other}, 132);
  EXPECT_DOUBLE_EQ(f[sm_s], 2640e-9);
}
