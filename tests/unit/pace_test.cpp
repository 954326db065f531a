// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pace.hpp"

#include <gtest/gtest.h>

#include "results.hpp"

using namespace perf;
using testing::IsSubstring;

namespace {

constexpr double list_bytes = 64e6;

// Of two ranks, at a rate of delivered bytes; the victim runs `victim_s`.
Result paced(double asked, double delivered, double victim_s) {
  Result r{"reduce-scatter", {}};
  r.full_bytes = static_cast<std::int64_t>(list_bytes);
  r.bus_share = 0.5;
  r.beside_rows.push_back(
      {"1x1x1", "tide", "", "", 1e12, asked, {victim_s}, {1.02 * victim_s}, {2 * delivered}, {}});
  return r;
}

}  // namespace

// 32 MB reach each of two ranks in a call: at 25 GB/s one starts every 1.28 ms.
TEST(PaceTest, Interval) {
  const Pace pace = Pace::of(delivered_bytes(list_bytes, 2), 25e9);
  EXPECT_DOUBLE_EQ(pace.interval_s, 1.28e-3);
  EXPECT_DOUBLE_EQ(pace.start_s(0), 0);
  EXPECT_DOUBLE_EQ(pace.start_s(3), 3.84e-3);
  EXPECT_DOUBLE_EQ(delivered_bytes(list_bytes, 4), 48e6);
}

// The pause after the last call counts; where calls take longer, their time does.
TEST(PaceTest, SecondsACall) {
  const Pace pace{2e-3};
  EXPECT_DOUBLE_EQ(pace.seconds_a_call(4, 6.5e-3), 2e-3);
  EXPECT_DOUBLE_EQ(pace.seconds_a_call(4, 12e-3), 3e-3);
  EXPECT_DOUBLE_EQ(Pace::of(32e6, 0).start_s(7), 0);
  EXPECT_DOUBLE_EQ(Pace{}.seconds_a_call(4, 6e-3), 1.5e-3);
}

TEST(PaceTest, Table) {
  const std::string kept = beside_text(paced(25e9, 25e9, 20e-3));
  EXPECT_PRED_FORMAT2(IsSubstring, "asked GB/s delivered GB/s\n", kept);
  EXPECT_PRED_FORMAT2(IsSubstring, "2.00     2.00       25.00          25.00\n", kept);
  EXPECT_PRED_FORMAT2(IsSubstring, "that a rank receives of the others' inputs", kept);
  EXPECT_PRED_FORMAT2(IsSubstring, "200.00         120.00  cannot keep the rate\n",
                      beside_text(paced(200e9, 120e9, 20e-3)));
  EXPECT_PRED_FORMAT2(IsSubstring, "fewer than 5 calls", beside_text(paced(25e9, 25e9, 5e-3)));
}

TEST(PaceTest, Json) {
  const nlohmann::json late = beside_json(paced(200e9, 120e9, 20e-3))[0];
  EXPECT_EQ(late["asked_bytes_per_s"], 200e9);
  EXPECT_DOUBLE_EQ(late["delivered_bytes_per_s"], 120e9);
  EXPECT_FALSE(late["keeps_rate"]);
  EXPECT_FALSE(late.contains("alone_bytes_per_s"));
  Result free = paced(0, 120e9, 20e-3);
  free.beside_rows[0].call_alone = {1e-3};
  EXPECT_FALSE(beside_json(free)[0].contains("keeps_rate"));
  EXPECT_DOUBLE_EQ(beside_json(free)[0]["alone_bytes_per_s"], 64e9);
  EXPECT_PRED_FORMAT2(IsSubstring, "240.00       64.00    375.0\n", beside_text(free));
}
