// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/machine_read.hpp"
#include "machines.hpp"

namespace tide::test {
namespace {

class WrongFile : public testing::Test {
 protected:
  WrongFile() { std::filesystem::create_directories(folder_); }
  ~WrongFile() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& text) {
    std::ofstream(folder_ / "machine.xml") << text;
    return (folder_ / "machine.xml").string();
  }
  static void expect_refused(const std::string& path, const std::string& why) {
    expect_message(Kind::arg, {"TIDE_HWLOC_XML: ", "'" + path + "'", why, "lstopo FILE.xml"},
                   [&] { read_machine(path, "TIDE_HWLOC_XML"); });
  }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("tide_xml_" + std::to_string(getpid()));
};

std::string a_machine() {
  std::ifstream file(TEST_TIDE_MACHINES "/cpu2.xml");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(WrongFile, ThatIsNotThere) {
  expect_refused((folder_ / "none.xml").string(), "No such file or directory");
}

TEST_F(WrongFile, ThatIsADirectory) { expect_refused(folder_.string(), "is a directory"); }

TEST_F(WrongFile, ThatIsNoMachine) {
  expect_refused(write(""), "damaged");
  expect_refused(write("ranks 4\n"), "damaged");
  expect_refused(write("<?xml version=\"1.0\"?>\n<html><body/></html>\n"), "damaged");
}

TEST_F(WrongFile, ThatWasCut) {
  const std::string whole = a_machine();
  ASSERT_GT(whole.size(), 3000u);
  for (size_t bytes : {100u, 1000u, 3000u})
    expect_refused(write(whole.substr(0, bytes)), "damaged");
}

TEST_F(WrongFile, DoesNotSpoilTheNextRead) {
  MachineOnce once;
  setenv("TIDE_HWLOC_XML", (folder_ / "none.xml").c_str(), 1);
  expect_message(Kind::arg, {"TIDE_HWLOC_XML", "none.xml"}, [&] { once.get(); });
  setenv("TIDE_HWLOC_XML", write(a_machine()).c_str(), 1);
  EXPECT_EQ(once.get().nics.size(), 3u);
  unsetenv("TIDE_HWLOC_XML");
  EXPECT_EQ(once.get().nics.size(), 3u);  // it is read once
  EXPECT_FALSE(once.get().live);
}

}  // namespace
}  // namespace tide::test
