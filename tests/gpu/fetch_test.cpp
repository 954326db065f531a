// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Sums whose rows stand elsewhere, in many parts, are those that read them there; on emulated
// devices.
#include "backend/cuda/fetch.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace tide::gpu {
namespace {

constexpr int here = 0, other = 1;
constexpr size_t elems = 100003, few = 1000, slot_bytes = size_t{64} << 10;

class Fetching : public testing::Test {
 protected:
  // Memory of a device (or pinned), from an odd element on; full of numbers.
  void* place(int device, size_t bytes, unsigned salt) {
    char* at = nullptr;
    if (device < 0) {
      host_.emplace_back(bytes + 64);
      at = host_.back().data();
      pins_.push_back(pin(at, bytes + 64));
    } else {
      memory_.push_back(Memory::create(device, bytes + 64));
      at = static_cast<char*>(memory_.back()->address());
    }
    at += (18 - reinterpret_cast<uintptr_t>(at) % 16) % 16;  // alike for all
    for (size_t i = 0; i < bytes / 2; i++) {                 // bf16, or halves of fp32: finite
      const auto value = static_cast<uint16_t>(0x3f00 + (i * 2654435761U + salt * 97) % 0x100);
      std::memcpy(at + 2 * i, &value, 2);
    }
    return at;
  }
  Summing piece(size_t n, Dtype in) {
    const size_t size = n * bytes_of(in);
    return {{place(here, size, 1), place(other, size, 2), nullptr, place(-1, size, 3),
             place(other, size, 4)},
            nullptr,
            place(here, n * 4, 5),
            n,
            in,
            Dtype::fp32,
            Dtype::fp32,
            true};
  }
  std::string result(const Summing& s) const { return {static_cast<char*>(s.dst), s.elems * 4}; }

  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<std::vector<char>> host_;
  std::vector<std::shared_ptr<const void>> pins_;
  Stream stream_{here}, fetch_{here};
  Scratch scratch_{stream_, slot_bytes};
  const std::vector<int> groups_{2, 3};
  const Arithmetic arithmetic_{true, 5, 0.25, true};
};

// Whichever of the two streams runs first.
TEST_F(Fetching, PartsAddUpToTheSame) {
  for (Stream* first : {&stream_, &fetch_}) {
    std::vector<Summing> pieces{piece(elems, Dtype::bf16), piece(elems / 2, Dtype::fp32),
                                piece(few, Dtype::bf16), piece(elems / 3, Dtype::bf16)};
    std::vector<std::string> before, wanted;
    for (const Summing& s : pieces) before.push_back(result(s));
    const auto direct = summing(pieces, groups_, stream_);
    for (const auto& program : direct) stream_.run(*program, arithmetic_, 8);
    stream_.drain();
    const std::vector<Summing> all = pieces;
    for (size_t k = 0; k < all.size(); k++) {
      wanted.push_back(result(all[k]));
      ASSERT_NE(before[k], wanted[k]);
      std::memcpy(all[k].dst, before[k].data(), before[k].size());
    }
    const std::vector<Part> parts = fetching(pieces, groups_, here, fetch_, stream_, scratch_);
    ASSERT_EQ(1U, pieces.size()) << "short rows are read where they are";
    EXPECT_EQ(few, pieces[0].elems);
    EXPECT_LT(20U, parts.size());
    run(parts, fetch_, stream_, arithmetic_, 8);
    const auto rest = summing(pieces, groups_, stream_);
    for (const auto& program : rest) stream_.run(*program, arithmetic_, 8);
    first->drain();
    stream_.drain();
    for (size_t k = 0; k < all.size(); k++) EXPECT_EQ(wanted[k], result(all[k])) << "piece " << k;
  }
}

TEST_F(Fetching, RowsOfThisDeviceStayWhereTheyAre) {
  const size_t bytes = elems * 2;
  std::vector<Summing> pieces{{{place(here, bytes, 1), place(here, bytes, 2)},
                               nullptr,
                               place(here, elems * 4, 3),
                               elems,
                               Dtype::bf16,
                               Dtype::fp32,
                               Dtype::fp32,
                               false}};
  EXPECT_TRUE(fetching(pieces, {2}, here, fetch_, stream_, scratch_).empty());
  EXPECT_EQ(1U, pieces.size());
}

}  // namespace
}  // namespace tide::gpu
