// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints: what comes back, on other communicators too; what is refused, and that nothing is
// touched then.  Any ranks, any map.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "list.hpp"

namespace tide_test {
namespace {

namespace fs = std::filesystem;
const Failure io{0, MPI_ERR_IO};

// A folder of this test, on all ranks the same.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/tide-checkpoint-XXXXXX";
    if (world().rank == 0 && !mkdtemp(name)) ADD_FAILURE() << name;
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    at_ = name;
  }
  ~Folder() {
    sync(world());
    if (world().rank == 0) fs::remove_all(at_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return at_ + "/" + name; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(at_)) names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::string at_;
};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// By rank 0; the others wait.
void write_file(const std::string& path, const std::string& bytes) {
  if (world().rank == 0) std::ofstream(path, std::ios::binary) << bytes;
  sync(world());
}

// A list with its shards: byte i of a parameter depends on its place in the whole parameter only.
class Model {
 public:
  Model(const Team& team, std::vector<MPIX_Tide_param> params, int dtype = 0,
        std::vector<MPI_Count> first = {})
      : list(team, std::move(params), MPI_INFO_NULL, std::move(first)),
        dtype_(dtype),
        shards(world(), Memory::foreign, bytes()) {
    for (size_t p = 0; p < list.count(); p++) names_.push_back("layer." + std::to_string(p) + "/w");
    std::vector<const char*> names;
    for (const auto& name : names_) names.push_back(name.c_str());
    TIDE_OK(MPIX_Tide_group_set_names(list.group(), "net.", names.data()));
  }
  MPIX_Tide_item item(const char* kind) const {
    return {kind, list.group(), dtype_, shards.list()};
  }
  void write(uint64_t salt) {
    each([&](size_t p, size_t i, unsigned char& byte) { byte = want(p, i, salt); });
  }
  void expect(uint64_t salt, const char* what, size_t but = SIZE_MAX) const {
    shards.expect_margins(what);
    size_t wrong = 0;
    each([&](size_t p, size_t i, unsigned char& byte) {
      wrong += p != but && byte != want(p, i, salt);
    });
    EXPECT_EQ(0u, wrong) << what << ": bytes that differ";
  }
  int type(size_t p) const { return dtype_ ? dtype_ : shard_dtype(list.params()[p]); }

 private:
  static unsigned char want(size_t p, size_t i, uint64_t salt) {
    return static_cast<unsigned char>(mix(p, i, salt));
  }
  template <class F>
  void each(F f) const {
    for (size_t p = 0; p < list.count(); p++) {
      const size_t before = list.first_elem(p, list.team().rank) * size_of(type(p));
      for (size_t i = 0; i < shards.bytes(p); i++)
        f(p, before + i, static_cast<unsigned char*>(shards[p])[i]);
    }
  }
  std::vector<size_t> bytes() const {
    std::vector<size_t> b;
    for (size_t p = 0; p < list.count(); p++) b.push_back(list.shard_elems(p) * size_of(type(p)));
    return b;
  }
  std::vector<std::string> names_;

 public:
  List list;

 private:
  int dtype_;

 public:
  Pieces shards;
};

const int frozen = types_of(MPIX_TIDE_FP32, MPIX_TIDE_NOGRAD);
std::vector<MPIX_Tide_param> usual() {
  return {param(7, 3, MPIX_TIDE_BF16),   param(0, 4, MPIX_TIDE_FP16),
          param(13, 5, MPIX_TIDE_UINT8), param(3, 2, MPIX_TIDE_FP32, frozen),
          param(40, 1, MPIX_TIDE_FP64),  param(1, 1, MPIX_TIDE_BF16)};
}

int save(const std::string& path, std::vector<MPIX_Tide_item> items, const char* metadata = nullptr,
         MPI_Comm comm = MPI_COMM_WORLD) {
  return MPIX_Tide_save(comm, path.c_str(), static_cast<int>(items.size()), items.data(), metadata,
                        MPI_INFO_NULL);
}
int load(const std::string& path, std::vector<MPIX_Tide_item> items,
         MPI_Comm comm = MPI_COMM_WORLD) {
  return MPIX_Tide_load(comm, path.c_str(), static_cast<int>(items.size()), items.data(), nullptr,
                        0, nullptr, MPI_INFO_NULL);
}

TEST(Checkpoint, ComesBackWithItsMetadata) {
  const Folder folder;
  Model w(world(), usual()), m(world(), usual(), MPIX_TIDE_FP32);
  const char* metadata = "{\"step\": \"100\", \"note\": \"a \\\"quoted\\\" word, \\u00fc\"}";
  w.write(1);
  m.write(2);
  TIDE_OK(save(folder / "a", {w.item(""), m.item("adam.m")}, metadata));
  EXPECT_EQ(std::vector<std::string>{"a"}, folder.files()) << "nothing else stays behind";
  w.shards.fill(0);
  m.shards.fill(0);
  const MPIX_Tide_item items[] = {w.item(""), m.item("adam.m")};
  char text[100], small[8] = "xxxxxxx";
  size_t needed = 0;
  TIDE_OK(MPIX_Tide_load(MPI_COMM_WORLD, (folder / "a").c_str(), 2, items, text, sizeof text,
                         &needed, MPI_INFO_NULL));
  EXPECT_STREQ("{\"note\":\"a \\\"quoted\\\" word, \xC3\xBC\",\"step\":\"100\"}", text);
  EXPECT_EQ(std::strlen(text) + 1, needed);
  w.expect(1, "parameters");
  for (size_t i = 0; i < m.shards.bytes(3); i++)
    EXPECT_EQ(0, static_cast<char*>(m.shards[3])[i]) << "frozen: it has no moment";
  m.expect(2, "moments", 3);
  TIDE_OK(MPIX_Tide_load(MPI_COMM_WORLD, (folder / "a").c_str(), 1, items, small, sizeof small,
                         nullptr, MPI_INFO_NULL));
  EXPECT_STREQ("{\"note\"", small) << "cut where it does not fit";
}

TEST(Checkpoint, BytesDoNotDependOnTheRanks) {
  const Folder folder;
  Model whole(world(), usual());
  whole.write(7);
  TIDE_OK(save(folder / "all", {whole.item("")}));
  const Comm self(dup(MPI_COMM_SELF));
  Model alone(team_of(self), usual());
  alone.write(7);
  const std::string own = folder / ("alone" + std::to_string(world().rank));
  TIDE_OK(save(own, {alone.item("")}, nullptr, self));
  sync(world());
  EXPECT_EQ(contents(folder / "all"), contents(own));
  alone.shards.fill(0);
  TIDE_OK(load(folder / "all", {alone.item("")}, self));
  alone.expect(7, "many ranks' file on one");
  // A ragged layout: everything on the last rank.
  std::vector<MPI_Count> first;
  for (const auto& p : usual())
    for (int r = 0; r <= world().size; r++) first.push_back(r == world().size ? p.rows : 0);
  Model ragged(world(), usual(), 0, first);
  TIDE_OK(load(folder / "alone0", {ragged.item("")}));
  ragged.expect(7, "one rank's file on a ragged layout");
  TIDE_OK(save(folder / "ragged", {ragged.item("")}));
  sync(world());
  EXPECT_EQ(contents(folder / "all"), contents(folder / "ragged"));
}

TEST(Checkpoint, OneReplicaWrites) {
  const Folder folder;
  MPI_Comm shard_comm, replica_comm;
  TIDE_OK(MPIX_Tide_comm_grid(MPI_COMM_WORLD, world().size % 2 ? 1 : world().size / 2, &shard_comm,
                              &replica_comm));
  const Comm shard(shard_comm), replica(replica_comm);
  Model w(team_of(shard), usual());
  const int mine = team_of(replica).rank;
  w.write(mine == 0 ? 4 : 5);  // that others hold something else must not show
  TIDE_OK(save(folder / "r", {w.item("")}));
  w.shards.fill(0);
  TIDE_OK(load(folder / "r", {w.item("")}));
  w.expect(4, "every replica reads");
}

TEST(Checkpoint, ManyRounds) {
  const Folder folder;
  const MPI_Count rows = 70000;  // 36 MB: on one rank three rounds of 16 MiB
  std::vector<MPI_Count> first{0};
  for (int r = 1; r <= world().size; r++) first.push_back(r == world().size ? rows : r);
  Model w(world(), {param(rows, 65, MPIX_TIDE_FP64)}, 0, first);
  w.write(3);
  TIDE_OK(save(folder / "large", {w.item("")}));
  w.shards.fill(0);
  TIDE_OK(load(folder / "large", {w.item("")}));
  w.expect(3, "in rounds");
}

TEST(Checkpoint, NothingIsAFileToo) {
  const Folder folder;
  List empty(world(), {});
  const MPIX_Tide_item item{"", empty.group(), 0, nullptr};
  TIDE_OK(save(folder / "none", {}));
  TIDE_OK(load(folder / "none", {}));
  TIDE_OK(save(folder / "none", {item}, "{}"));
  size_t needed = 0;
  TIDE_OK(MPIX_Tide_load(MPI_COMM_WORLD, (folder / "none").c_str(), 0, nullptr, nullptr, 0, &needed,
                         MPI_INFO_NULL));
  EXPECT_EQ(3u, needed);
}

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

TEST(Checkpoint, ALinkIsReplacedAndNotFollowed) {
  const Folder folder;
  write_file(folder / "target", "precious");
  if (world().rank == 0) fs::create_symlink(folder / "target", folder / "link");
  sync(world());
  Model w(world(), usual());
  w.write(1);
  TIDE_OK(save(folder / "link", {w.item("")}));
  sync(world());
  EXPECT_EQ("precious", contents(folder / "target"));
  EXPECT_FALSE(fs::is_symlink(folder / "link"));
}

TEST(CheckpointErrors, WrongArgumentsFailOnAllRanks) {
  const Folder folder;
  Model w(world(), usual());
  List unnamed(world(), {param(world().size, 1)});
  const std::string path = folder / "c";
  w.write(1);
  const bool last = world().rank == world().size - 1;
  const auto refused = [&](auto call, std::initializer_list<Failure> allowed, const char* word) {
    expect_failure_on_all(world(), call(true), allowed, {word});
    expect_failure_on_all(world(), call(last), allowed);
    EXPECT_TRUE(folder.files().empty());
    sync(world());
  };
  const auto with = [&](bool wrong, auto change) {
    MPIX_Tide_item item = w.item("");
    if (wrong) change(item);
    return save(path, {item});
  };
  const MPIX_Tide_item good = w.item("");
  refused(
      [&](bool x) {
        return MPIX_Tide_save(MPI_COMM_WORLD, x ? nullptr : path.c_str(), 1, &good, nullptr,
                              MPI_INFO_NULL);
      },
      {arg}, "path");
  refused(
      [&](bool x) {
        return MPIX_Tide_save(MPI_COMM_WORLD, path.c_str(), x ? -1 : 1, &good, nullptr,
                              MPI_INFO_NULL);
      },
      {count}, "nitems");
  refused(
      [&](bool x) {
        return MPIX_Tide_save(MPI_COMM_WORLD, path.c_str(), 1, x ? nullptr : &good, nullptr,
                              MPI_INFO_NULL);
      },
      {arg}, "items");
  refused([&](bool x) { return with(x, [](auto& i) { i.kind = nullptr; }); }, {arg}, "kind");
  refused([&](bool x) { return with(x, [](auto& i) { i.group = MPIX_TIDE_GROUP_NULL; }); }, {arg},
          "group");
  refused([&](bool x) { return with(x, [](auto& i) { i.dtype = 9; }); }, {arg}, "dtype");
  refused([&](bool x) { return with(x, [](auto& i) { i.shards = nullptr; }); }, {buffer}, "NULL");
  refused(
      [&](bool x) {
        return save(path, {x ? MPIX_Tide_item{"", unnamed.group(), 0, w.shards.list()} : good});
      },
      {arg}, "name");
  refused([&](bool x) { return save(path, {w.item("a"), w.item(x ? "a" : "b")}); }, {arg}, "taken");
  refused([&](bool x) { return save(path, {good}, x ? "[1]" : "{}"); }, {arg, mismatch},
          "metadata");
  refused([&](bool x) { return save(path, {good}, x ? "{\"step\":5}" : "{}"); }, {arg, mismatch},
          "step");
  refused([&](bool x) { return save(path, {good}, x ? "{\"tide.x\":\"\"}" : "{}"); },
          {arg, mismatch}, "tide.");
  expect_failure(save(path, {good}, nullptr, MPI_COMM_NULL), {comm_class});
}

TEST(CheckpointErrors, DifferentArgumentsAreAMismatch) {
  if (world().size == 1) GTEST_SKIP() << "for several ranks";
  const Folder folder;
  Model w(world(), usual()), other(world(), {param(7, 4, MPIX_TIDE_BF16)});
  const std::string path = folder / "c";
  const bool last = world().rank == world().size - 1;
  const auto all = [&](int code, const char* word) {
    expect_failure_on_all(world(), code, {mismatch}, {word});
  };
  all(save(last ? path + "x" : path, {w.item("")}), "path");
  all(save(path, {w.item("")}, last ? "{}" : nullptr), "metadata");
  all(last ? save(path, {w.item("a"), w.item("b")}) : save(path, {w.item("a")}), "nitems");
  all(save(path, {w.item("x"), w.item(last ? "a" : "b")}), "item 1");
  all(save(path, {last ? other.item("") : w.item("")}), "item 0");
  all(last ? load(path, {w.item("")}) : save(path, {w.item("")}), "the call");
  const Comm part(split(MPI_COMM_WORLD, world().rank ? 1 : 0, world().rank));
  MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
  expect_failure(save(path + std::to_string(world().rank), {w.item("")}, nullptr, part),
                 {arg, mismatch}, {world().rank ? "r" : "lacks rank 1"});
  EXPECT_TRUE(folder.files().empty());
  sync(world());
}

// TEST_TIDE_SMALL_FOLDER: on a file system with little room (small_disk.sh).
TEST(Disk, FullIsAnErrorAndLeavesTheOldCheckpoint) {
  const char* small = getenv("TEST_TIDE_SMALL_FOLDER");
  if (!small) GTEST_SKIP() << "no small file system";
  const std::string path = std::string(small) + "/c";
  Model w(world(), usual()), large(world(), {param(3000, 1000, MPIX_TIDE_FP64)});
  w.write(1);
  TIDE_OK(save(path, {w.item("")}));
  large.write(2);
  expect_failure_on_all(world(), save(path, {large.item("")}), {io}, {path, "room"});
  w.shards.fill(0);
  TIDE_OK(load(path, {w.item("")}));
  w.expect(1, "the old one");
  sync(world());
  EXPECT_EQ(1, std::distance(fs::directory_iterator(small), fs::directory_iterator()));
}

}  // namespace
}  // namespace tide_test
