// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Files that are not what they should be.  Any ranks.
#include <sys/stat.h>

#include <cstring>

#include "checkpoint.hpp"

namespace tide_test {
namespace {

// A file that is wrong is refused on all ranks, with a word of what is wrong, before a byte of it
// gets anywhere.
class Refused : public testing::Test {
 protected:
  Refused() {
    w_.write(1);
    TIDE_OK(save(path_, {w_.item("")}, "{\"step\":\"5\"}"));
    sync(world());
    good_ = contents(path_);
    w_.shards.fill(0x77);
  }
  void expect_refused(const std::string& bytes, const std::string& word) {
    sync(world());
    write_file(path_, bytes);
    expect_failure_on_all(world(), load(path_, {w_.item("")}), {io}, {path_, word});
    w_.shards.expect_filled(0x77, word.c_str());
  }
  // With this text as header, and the old data.
  std::string with_header(const std::string& text) const {
    std::string length(8, '\0');
    for (size_t k = 0; k < 8; k++) length[k] = static_cast<char>(text.size() >> 8 * k & 0xFF);
    return length + text + good_.substr(8 + header_bytes());
  }
  size_t header_bytes() const {
    uint64_t n = 0;
    std::memcpy(&n, good_.data(), 8);
    return n;
  }
  std::string header() const { return good_.substr(8, header_bytes()); }
  static std::string replaced(std::string text, const std::string& a, const std::string& b) {
    const size_t at = text.find(a);
    EXPECT_NE(std::string::npos, at) << a << " in " << text;
    return at == std::string::npos ? text : text.replace(at, a.size(), b);
  }
  // Without checksums, as other programs write.
  std::string plain_header() const {
    std::string text = header();
    text.erase(1, text.find("},") + 1);
    return text;
  }

  Folder folder_;
  std::string path_ = folder_ / "c";
  Model w_{world(), usual()};
  std::string good_;
};

TEST_F(Refused, TornTruncatedAndForeign) {
  expect_refused("", "0 bytes");
  expect_refused(std::string(8, '\0'), "not finished");
  expect_refused(std::string(good_.size(), '\0'), "not finished");
  expect_refused(good_.substr(0, 5), "5 bytes");
  expect_refused(good_.substr(0, 8 + header_bytes() / 2), "ends after");
  std::string cut = good_;
  cut.pop_back();
  expect_refused(cut, "the file has");
  expect_refused(good_ + "x", "the file has");
  expect_refused("PK\x03\x04 a zip file, perhaps of another program", "header would have");
  expect_refused(std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8) + good_.substr(8),
                 "header would have");
  expect_refused(with_header("[1]"), "begin with {");
  expect_refused(with_header("{\"a\":"), "not JSON");
}

TEST_F(Refused, Lies) {
  std::string data = good_;
  data[good_.size() - 3] ^= 1;
  expect_refused(data, "damaged");
  data = good_;
  data[8 + header_bytes()] ^= 0x40;
  expect_refused(data, "damaged");
  expect_refused(with_header(replaced(header(), "\"5\"", "\"6\"")), "checksum");
  const std::string plain = plain_header();
  expect_refused(with_header(replaced(plain, "\"shape\":[40]", "\"shape\":[41]")), "its shape");
  expect_refused(with_header(replaced(plain, "\"shape\":[40]",
                                      "\"shape\":[4000000000,4000000000,"
                                      "4000000000]")),
                 "too large");
  expect_refused(with_header(replaced(plain, "[0,320]", "[8,320]")), "next");
  expect_refused(with_header(replaced(plain, "[0,320]", "[0,312]")), "");
  expect_refused(with_header(replaced(plain, "[0,320]", "[0,-1]")), "another kind");
  expect_refused(with_header(replaced(plain, "[0,320]", "[0,1,2]")), "another kind");
  expect_refused(with_header(replaced(plain, "[0,320]", "[0]")), "lacks");
  expect_refused(with_header(replaced(plain, "\"dtype\":\"F64\",", "")), "lacks");
  expect_refused(with_header(replaced(plain, "layer.5", "layer.4")), "twice");
  expect_refused(with_header(replaced(plain, "{\"dtype\"", "{\"dtype\":\"F64\",\"dtype\"")),
                 "twice");
}

TEST_F(Refused, AnotherModel) {
  expect_refused(with_header(replaced(plain_header(), "layer.4", "layer.9")), "no tensor");
  expect_refused(with_header(replaced(plain_header(), "[40]", "[8,5]")), "shape [8, 5]");
  expect_refused(with_header(replaced(plain_header(), "F64", "I64")), "is I64");
  write_file(path_, with_header(plain_header()));
  TIDE_OK(load(path_, {w_.item("")}));
  w_.expect(1, "a file without checksums is one of another program");
  write_file(path_, with_header(replaced(plain_header(), "[40]", "[40,1,1]")));
  w_.shards.fill(0);
  TIDE_OK(load(path_, {w_.item("")}));
  w_.expect(1, "more dimensions");
  w_.shards.fill(0x77);
  std::string more =
      replaced(plain_header(), "{\"dtype\"", "{\"x\":[{\"y\":[1,null]},-2.5],\"dtype\"");
  write_file(path_, with_header(more));
  TIDE_OK(load(path_, {w_.item("")}));
  w_.expect(1, "keys of a later version of the format");
}

TEST_F(Refused, PathsThatAreNoFile) {
  const auto both = [&](const std::string& path, const std::string& word, bool reading = true) {
    expect_failure_on_all(world(), save(path, {w_.item("")}), {io}, {path, word});
    if (reading) expect_failure_on_all(world(), load(path, {w_.item("")}), {io}, {path, word});
  };
  both(folder_ / "no/such/folder", "No such file");
  if (world().rank == 0 && mkfifo((folder_ / "pipe").c_str(), 0600)) ADD_FAILURE() << "mkfifo";
  sync(world());
  both(folder_ / "pipe", "no regular file");
  both(folder_ / ".", "no regular file");
  both("/dev/null", "no regular file");
  both(folder_ / std::string(300, 'n'), "too long");
  w_.shards.expect_filled(0x77, "no file");
  EXPECT_EQ(good_, contents(path_));
}

}  // namespace
}  // namespace tide_test
