// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Which NCCL is taken, and what is said of those that are not.  A library stays in its process, so
// each case is a process of its own.
#include "backend/rail/nccl_library.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "core/error.hpp"

namespace tide {
namespace {

// What the process says: "2.32.3", or why not.
void expect_says(const std::string& words, const std::function<void()>& prepare) {
  unsetenv("NCCL_NVLS_ENABLE");
  setenv("TIDE_NCCL_LIBRARY", FAKE_NCCL, 1);
  EXPECT_EXIT(
      {
        prepare();
        std::string said;
        try {
          said = nccl_version_text(NcclLibrary::get().version);
          said += std::string(", NVLS ") + std::getenv("NCCL_NVLS_ENABLE");
        } catch (const Error& e) {
          said = e.what();
        }
        std::fprintf(stderr, "%s\n", said.c_str());
        std::exit(0);
      },
      testing::ExitedWithCode(0), words);
}

void load_before(const char* file) {
  if (!dlopen(file, RTLD_NOW)) std::exit(2);
}

TEST(NcclLibrary, IsTakenWithoutNvlinkSharp) {
  expect_says("2\\.32\\.3, NVLS 0", [] {});
}

TEST(NcclLibrary, LeavesTheVariableToTheUser) {
  expect_says("2\\.32\\.3, NVLS 1", [] { setenv("NCCL_NVLS_ENABLE", "1", 1); });
}

TEST(NcclLibrary, OneThatIsLoadedMustHaveBeenKeptOffMulticast) {
  expect_says("was loaded before Tide could set NCCL_NVLS_ENABLE=0",
              [] { load_before(FAKE_NCCL); });
  expect_says("was loaded before Tide could set NCCL_NVLS_ENABLE=0", [] {
    setenv("NCCL_NVLS_ENABLE", "2", 1);
    load_before(FAKE_NCCL);
  });
  expect_says("2\\.32\\.3, NVLS 0", [] {
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    load_before(FAKE_NCCL);
  });
}

TEST(NcclLibrary, OneThatIsLoadedIsFoundByItsName) {
  expect_says("2\\.32\\.3, NVLS 0", [] {
    unsetenv("TIDE_NCCL_LIBRARY");
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    load_before(FAKE_NCCL);
  });
}

TEST(NcclLibrary, OldVersionsAreRefused) {
  expect_says("is NCCL 2\\.31\\.1; Tide needs 2\\.31\\.2 or later",
              [] { setenv("FAKE_NCCL_VERSION", "23101", 1); });
  expect_says("2\\.31\\.2, NVLS 0", [] { setenv("FAKE_NCCL_VERSION", "23102", 1); });
}

TEST(NcclLibrary, AFunctionThatLacksIsNamed) {
  expect_says("has no ncclPutSignal; Tide needs NCCL 2\\.31\\.2 or later",
              [] { setenv("TIDE_NCCL_LIBRARY", FAKE_NCCL_WITHOUT_PUTS, 1); });
}

TEST(NcclLibrary, AFileThatLacksIsNamed) {
  expect_says("NCCL is not found \\(/nowhere/libnccl.so.2.*TIDE_NCCL_LIBRARY",
              [] { setenv("TIDE_NCCL_LIBRARY", "/nowhere/libnccl.so.2", 1); });
}

}  // namespace
}  // namespace tide
