// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Tests of the test main itself: a case that hangs and a case that is wrong on one rank must be
// reported as such.
#include <unistd.h>

#include "team.hpp"

namespace tide_test {
namespace {

TEST(Broken, HangsOnRankZero) {
  if (world().rank == 0) pause();
  sync(world());
}

TEST(Broken, FailsOnRankOneOnly) { EXPECT_NE(1, world().rank); }

TEST(Broken, NeverRuns) { GTEST_SKIP() << "so that no case runs at all"; }

}  // namespace
}  // namespace tide_test
