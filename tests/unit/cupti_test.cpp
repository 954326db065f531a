// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cupti.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

using tools::Activity;
using tools::Cupti;

namespace {

std::string refusal(const std::string& library) {
  try {
    Cupti cupti(library);
    return "";
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

std::string complaint(Cupti& cupti) {
  try {
    cupti.take();
    return "";
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST(CuptiTest, ReadsEachKindOfRecord) {
  Cupti cupti(FAKE_CUPTI);
  EXPECT_TRUE(contains(cupti.version(), " of "));
  const std::vector<Activity> all = cupti.take();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].kind, Activity::kernel);
  EXPECT_EQ(all[0].blocks, 120u);
  EXPECT_EQ(all[0].begin_ns, 30u);
  EXPECT_EQ(all[0].end_ns, 50u);
  EXPECT_EQ(all[0].name, "a_kernel");
  const Activity::Kind kinds[] = {Activity::copy, Activity::copy, Activity::set};
  for (std::size_t i = 0; i < 3; ++i) {
    const Activity& a = all[i + 1];
    EXPECT_EQ(a.kind, kinds[i]);
    EXPECT_EQ(a.copy_engine, i == 1);  // a channel of no type is no copy engine's
    EXPECT_EQ(a.bytes, 100 * (i + 1));
    EXPECT_EQ(a.begin_ns, 10u);
    EXPECT_EQ(a.end_ns, 20u);
    EXPECT_EQ(a.device, 3u);
  }
}

TEST(CuptiTest, ForgetsWhatIsDiscarded) {
  Cupti cupti(FAKE_CUPTI);
  cupti.discard();
  EXPECT_EQ(cupti.take().size(), 4u);
}

TEST(CuptiTest, SaysWhatIsMissing) {
  EXPECT_TRUE(contains(refusal("/nowhere/libcupti.so"), "/nowhere/libcupti.so"));
  EXPECT_TRUE(contains(refusal("/nowhere/libcupti.so"), "set TIDE_CUPTI_LIBRARY"));
  EXPECT_TRUE(contains(refusal("libc.so.6"), "libc.so.6 has no cupti"));
}

TEST(CuptiTest, SaysThatAnotherProfilerIsThere) {
  setenv("FAKE_CUPTI_SUBSCRIBED", "1", 1);
  const std::string words = refusal(FAKE_CUPTI);
  unsetenv("FAKE_CUPTI_SUBSCRIBED");
  EXPECT_TRUE(contains(words, "words of the fake; another profiler or debugger is attached"))
      << words;
}

TEST(CuptiTest, DoesNotCountWhatIsLost) {
  Cupti cupti(FAKE_CUPTI);
  setenv("FAKE_CUPTI_DROPPED", "1", 1);
  const std::string dropped = complaint(cupti);
  unsetenv("FAKE_CUPTI_DROPPED");
  setenv("FAKE_CUPTI_UNTIMED", "1", 1);
  const std::string untimed = complaint(cupti);
  unsetenv("FAKE_CUPTI_UNTIMED");
  EXPECT_TRUE(contains(dropped, "lost 7 records and the times of 0")) << dropped;
  EXPECT_TRUE(contains(untimed, "lost 0 records and the times of 1")) << untimed;
  EXPECT_EQ(complaint(cupti), "");
}
