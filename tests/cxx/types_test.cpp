// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What needs no call: bf16, descriptors, lists.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <tide/tide.hpp>

namespace {

using tide::bf16;

struct half {  // a user's own type with the bits of fp16
  std::uint16_t bits;
};

}  // namespace

template <>
struct tide::DtypeOf<half> {
  static constexpr Dtype value = Dtype::fp16;
};

namespace {

static_assert(sizeof(bf16) == 2 && std::is_trivial_v<bf16>);
static_assert(!std::is_convertible_v<float, bf16> && std::is_convertible_v<bf16, float>);
static_assert(std::is_constructible_v<tide::Piece<const void>, const std::vector<float>&>);
static_assert(!std::is_constructible_v<tide::Piece<void>, const std::vector<float>&>);  // read only
static_assert(!std::is_constructible_v<tide::Piece<void>, std::vector<float>>);  // a temporary
static_assert(!std::is_constructible_v<tide::Piece<void>, std::vector<int>&>);   // no such element

TEST(CxxTypes, Bf16RoundsToNearestEven) {
  EXPECT_EQ(0x3f80, bf16(1.0f).bits());
  EXPECT_EQ(0x3f80, bf16(1.00390625f).bits());  // 1 + 1/256: a tie, to even
  EXPECT_EQ(0x3f82, bf16(1.01171875f).bits());  // 1 + 3/256: a tie, to even
  EXPECT_EQ(0x8000, bf16(-0.0f).bits());
  EXPECT_EQ(0x7f80, bf16(std::numeric_limits<float>::max()).bits());
  EXPECT_TRUE(std::isnan(static_cast<float>(bf16(std::nanf("")))));
  EXPECT_TRUE(std::isnan(static_cast<float>(bf16(std::nan("")))));
  for (int bits = 0; bits < 0x7f80; ++bits)
    ASSERT_EQ(bits,
              bf16(static_cast<float>(bf16::from_bits(static_cast<std::uint16_t>(bits)))).bits());
}

TEST(CxxTypes, Bf16RoundsADoubleOnce) {
  const double tie = 1.00390625, bit = std::ldexp(1.0, -40);
  EXPECT_EQ(0x3f80, bf16(tie).bits());
  EXPECT_EQ(0x3f81, bf16(tie + bit).bits());  // a float in between would be the tie
  EXPECT_EQ(0xbf81, bf16(-tie - bit).bits());
  EXPECT_EQ(0x3f81, bf16(1.01171875 - bit).bits());  // below the tie at 1 + 3/256
  EXPECT_EQ(0x7f80, bf16(1e300).bits());
  EXPECT_EQ(0x0000, bf16(1e-300).bits());
  EXPECT_EQ(0x7f7f, bf16(3.3895313892515355e38).bits());  // the largest
}

TEST(CxxTypes, DescriptorsFromTypes) {
  const tide::Param p = tide::param<bf16, float>(6, 4, 2);
  EXPECT_EQ(6, p.rows);
  EXPECT_EQ(4, p.row_elems);
  EXPECT_EQ(2, p.block_rows);
  EXPECT_EQ(MPIX_TIDE_BF16, p.dtype);
  EXPECT_EQ(MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16), p.types);
  EXPECT_EQ(MPIX_TIDE_TYPES(MPIX_TIDE_UINT8, MPIX_TIDE_NOGRAD),
            (tide::param<std::uint8_t, std::uint8_t, tide::Frozen>(3).types));
  EXPECT_EQ(MPIX_TIDE_FP16, tide::param<half>(1).dtype);
  EXPECT_EQ(MPIX_TIDE_AVG | MPIX_TIDE_ACCUMULATE,
            static_cast<int>(tide::Op::avg | tide::Op::accumulate));
}

TEST(CxxTypes, ListsKnowAddressLengthAndType) {
  std::vector<float> a(3);
  std::array<double, 2> b{};
  bf16 c[5];
  const std::span<const float> d(a.data(), 2);
  const tide::Inputs in{a, b, c, d, nullptr};
  ASSERT_EQ(5u, in.size());
  EXPECT_EQ(a.data(), in[0]);
  EXPECT_EQ(c, in.pointers()[2]);
  EXPECT_EQ(nullptr, in[4]);
  const std::vector<tide::Extent> extents{{3, tide::Dtype::fp32},
                                          {2, tide::Dtype::fp64},
                                          {5, tide::Dtype::bf16},
                                          {2, tide::Dtype::fp32},
                                          {}};
  EXPECT_EQ(extents, in.extents());
}

}  // namespace
