// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Checksums of parts, and the header's text.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checkpoint/crc32.hpp"
#include "checkpoint/header.hpp"
#include "core/error.hpp"

using namespace tide;

namespace {

TEST(Crc32, TheCheckValueOfTheStandard) {
  EXPECT_EQ(0xCBF43926u, crc32("123456789", 9));
  EXPECT_EQ(0u, crc32("", 0));
  EXPECT_EQ(0xE8B7BE43u, crc32("a", 1));
}

TEST(Crc32, PartsCombineInAnyOrder) {
  std::vector<unsigned char> data(10007);
  for (size_t i = 0; i < data.size(); i++) data[i] = static_cast<unsigned char>(i * i >> 3);
  const uint32_t whole = crc32(data.data(), data.size());
  for (size_t cut : {size_t{0}, size_t{1}, size_t{8}, size_t{4099}, size_t{10007}}) {
    const size_t behind = data.size() - cut;
    const uint32_t parts = append_zeros(bare_crc32(0, data.data(), cut), behind) ^
                           bare_crc32(0, data.data() + cut, behind);
    EXPECT_EQ(whole, crc32_of_bare(parts, data.size())) << cut;
    EXPECT_EQ(whole,
              crc32_of_bare(bare_crc32(bare_crc32(0, data.data(), cut), data.data() + cut, behind),
                            data.size()));
  }
  data[9000] ^= 1;
  EXPECT_NE(whole, crc32(data.data(), data.size()));
}

TEST(Header, SizeDoesNotDependOnChecksums) {
  FileHeader h;
  h.tensors = {{"w", "F32", {2, 3}, 0, 24}, {"a \"quoted\" name", "U8", {}, 24, 25}};
  h.metadata = {{"step", "5"}, {"tide.crc32:w", "00000000"}};
  const std::string zeros = format_header(h);
  h.metadata["tide.crc32:w"] = "89abcdef";
  const std::string text = format_header(h);
  EXPECT_EQ(zeros.size(), text.size());
  EXPECT_EQ(0u, text.size() % 8);
  const FileHeader read = parse_header(text, 25);
  ASSERT_EQ(2u, read.tensors.size());
  EXPECT_EQ("a \"quoted\" name", read.tensors[1].name);
  EXPECT_EQ("89abcdef", read.metadata.at("tide.crc32:w"));
  EXPECT_THROW(parse_header(text, 26), Error);
}

TEST(Header, NamesThatAreNotUtf8AreRefused) {
  FileHeader h;
  h.tensors = {{"\xFF", "U8", {0}, 0, 0}};
  try {
    format_header(h);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(Kind::arg, e.kind());
  }
}

}  // namespace
