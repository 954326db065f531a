// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments, arguments that differ, and disks that are full.  Any ranks.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "checkpoint.hpp"

namespace tide_test {
namespace {

bool no_fallocate = false;  // as on file systems that have none

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
  all(last ? load(path, {w.item("")}) : save(path, {w.item("")}), "MPIX_Tide_load");
  const Comm part(split(MPI_COMM_WORLD, world().rank ? 1 : 0, world().rank));
  MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
  expect_failure(save(path + std::to_string(world().rank), {w.item("")}, nullptr, part),
                 {arg, mismatch}, {world().rank ? "r" : "lacks rank 1"});
  EXPECT_TRUE(folder.files().empty());
  sync(world());
}

// TEST_TIDE_SMALL_FOLDER: on a file system with little room (small_disk.sh).
void full_disk(const char* word) {
  const char* small = getenv("TEST_TIDE_SMALL_FOLDER");
  if (!small) GTEST_SKIP() << "no small file system";
  const std::string path = std::string(small) + "/c";
  Model w(world(), usual()), large(world(), {param(3000, 1000, MPIX_TIDE_FP64)});
  w.write(1);
  TIDE_OK(save(path, {w.item("")}));
  large.write(2);
  expect_failure_on_all(world(), save(path, {large.item("")}), {io}, {path, word});
  w.shards.fill(0);
  TIDE_OK(load(path, {w.item("")}));
  w.expect(1, "the old one");
  sync(world());
  EXPECT_EQ(1, std::distance(fs::directory_iterator(small), fs::directory_iterator()));
}

TEST(Disk, FullIsAnErrorAndLeavesTheOldCheckpoint) { full_disk("no room for"); }

TEST(Disk, WhereRoomCannotBeTakenBeforehandToo) {
#ifdef MPICH_VERSION
  const char* word = "No space left";
#else
  const char* word = "does not read back";  // Open MPI 4.1 says nothing
#endif
  no_fallocate = true;
  full_disk(word);
  no_fallocate = false;
}

}  // namespace
}  // namespace tide_test

// In front of the C library's, for libtide.
extern "C" __attribute__((visibility("default"))) int fallocate(int descriptor, int mode,
                                                                off_t offset, off_t bytes) {
  if (tide_test::no_fallocate) return errno = EOPNOTSUPP, -1;
  return static_cast<int>(syscall(SYS_fallocate, descriptor, mode, offset, bytes));
}
