// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Feeds each file of a corpus to the harness, without a fuzzer: what was found once stays fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "input.hpp"

namespace {

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> result;
  for (const auto& entry : std::filesystem::directory_iterator(TEST_TIDE_CORPUS))
    result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

TEST(Corpus, EveryFileIsTaken) {
  ASSERT_FALSE(files().empty());
  for (const auto& file : files()) {
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);  // the last line names the file that ends the process
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
}

TEST(Corpus, NothingAndNoiseAreTakenToo) {
  LLVMFuzzerTestOneInput(nullptr, 0);
  uint64_t state = 1;
  for (size_t bytes = 1; bytes <= 512; bytes *= 2) {
    std::vector<uint8_t> noise(bytes);
    for (uint8_t& byte : noise) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      byte = static_cast<uint8_t>(state >> 56);
    }
    LLVMFuzzerTestOneInput(noise.data(), noise.size());
  }
}

}  // namespace
