// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Which pieces go by multicast, and what stands behind an emulated address.
#include "backend/multicast.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace tide {
namespace {

struct Node3 {  // three ranks, 8 KiB each
  alignas(16) char memory[3][8192] = {};
  std::shared_ptr<const Multicast> multicast =
      emulated_multicast({memory[0], memory[1], memory[2]}, {11, 12, 13}, 8192);
};

TEST(Multicast, OneOffsetOfOneAllocation) {
  Node3 node;
  const auto at = [&](std::vector<SegmentPlace> places, size_t bytes) {
    return common_offset(*node.multicast, places, bytes);
  };
  EXPECT_EQ(64u, at({{11, 64}, {12, 64}, {13, 64}}, 100));
  EXPECT_EQ(8192u, at({{11, 8192}, {12, 8192}, {13, 8192}}, 0));
  EXPECT_FALSE(at({{11, 64}, {12, 80}, {13, 64}}, 100)) << "another offset";
  EXPECT_FALSE(at({{11, 64}, {13, 64}, {12, 64}}, 100)) << "ranks exchanged";
  EXPECT_FALSE(at({{11, 64}, {12, 64}, {14, 64}}, 100)) << "another allocation";
  EXPECT_FALSE(at({{11, 64}, {0, 64}, {13, 64}}, 100)) << "not Tide's";
  EXPECT_FALSE(at({{11, 64}, {12, 64}}, 100)) << "a rank is missing";
  EXPECT_FALSE(at({{11, 8000}, {12, 8000}, {13, 8000}}, 193)) << "beyond the smallest";
  EXPECT_FALSE(at({}, 0));
}

TEST(Multicast, WhatIsBehindAnAddress) {
  Node3 node;
  const Multicast& m = *node.multicast;
  for (int h = 0; h < 3; h++) {
    EXPECT_EQ(node.memory[h] + 48, m.behind(m.address + 48, 16, h));
    EXPECT_EQ(node.memory[h] + 8192, m.behind(m.address + 8192, 0, h));
  }
  EXPECT_THROW(m.behind(m.address + 8185, 8, 0), Error);
  EXPECT_THROW(m.behind(m.address - 8, 8, 0), Error);
  EXPECT_THROW(m.behind(node.memory[0], 8, 0), Error) << "memory itself";
  EXPECT_THROW(m.behind(m.address, 8, 3), std::out_of_range);
}

TEST(MulticastDeathTest, AnEmulatedAddressCannotBeTouched) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Node3 node;
  EXPECT_DEATH(*node.multicast->address = 1, "");
}

TEST(Multicast, SixteenBytes) {
  const auto cut = [](size_t at, size_t bytes, size_t elem = 1) {
    const MulticastCut c = multicast_cut(reinterpret_cast<const void*>(at), bytes, elem);
    return std::pair(c.head, c.middle);
  };
  using Cut = std::pair<size_t, size_t>;
  EXPECT_EQ(Cut(0, 16), cut(0x1000, 16));
  EXPECT_EQ(Cut(0, 5008), cut(0x1000, 5010));
  EXPECT_EQ(Cut(6, 4992), cut(0x100a, 5010));
  EXPECT_EQ(Cut(40, 0), cut(0x1000, 40)) << "edges of a small piece";
  EXPECT_EQ(Cut(5010, 0), cut(0x1009, 5010, 4)) << "an element would be cut";
  EXPECT_EQ(Cut(3, 0), cut(0x1001, 3));
  EXPECT_EQ(Cut(0, 0), cut(0x1000, 0));
}

TEST(Multicast, WhatASwitchAdds) {
  EXPECT_TRUE(switch_adds(Dtype::fp32, Dtype::fp32, Dtype::bf16, true));
  EXPECT_TRUE(switch_adds(Dtype::fp32, Dtype::fp32, Dtype::fp32, false));
  EXPECT_TRUE(switch_adds(Dtype::bf16, Dtype::fp32, Dtype::bf16, true));
  EXPECT_FALSE(switch_adds(Dtype::bf16, Dtype::fp32, Dtype::fp32, true)) << "16 bits come back";
  EXPECT_FALSE(switch_adds(Dtype::fp16, Dtype::fp32, Dtype::fp16, false)) << "a partial is fp32";
  EXPECT_FALSE(switch_adds(Dtype::fp16, Dtype::fp32, Dtype::bf16, true));
  EXPECT_FALSE(switch_adds(Dtype::fp32, Dtype::fp64, Dtype::fp64, true)) << "it adds in fp32";
  EXPECT_FALSE(switch_adds(Dtype::fp64, Dtype::fp64, Dtype::fp64, true));
}

}  // namespace
}  // namespace tide
