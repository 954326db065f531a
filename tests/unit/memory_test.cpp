// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>

#include "core/memory_file.hpp"
#include "processes.hpp"

namespace tide::test {
namespace {

// Stands before the C library's posix_fallocate: this kernel is not interrupted by signals.
std::function<int(int call, off_t bytes)> fallocate_fails;
int fallocate_calls = 0;

bool tide_file_in(const char* folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().find("tide.") == 0) return true;
  return false;
}

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

void lower_limit(int which, rlim_t to) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource>(which), &limit);
  limit.rlim_cur = to;
  ASSERT_EQ(setrlimit(static_cast<__rlimit_resource>(which), &limit), 0);
}

TEST(Segment, IsZeroedAlignedAndWritableToItsLastByte) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{4096}, size_t{4097}, size_t{3} << 20}) {
    const auto segment = Segment::create(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(segment->base()) % page_bytes(), 0u);
    EXPECT_EQ(segment->bytes(), bytes);
    EXPECT_NE(segment->id(), 0u);
    EXPECT_FALSE(segment->freed());
    for (size_t i = 0; i < bytes; i += 511) ASSERT_EQ(bytes_of(*segment)[i], 0) << i;
    if (bytes > 0) bytes_of(*segment)[bytes - 1] = 0xff;
    EXPECT_FALSE(segment->freed());
  }
}

TEST(Segment, FileIsNamelessPrivateAndSealed) {
  const auto segment = Segment::create(10000);
  const int fd = segment->descriptor();
  struct stat info {};
  ASSERT_EQ(fstat(fd, &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_EQ(info.st_nlink, 0u);
  EXPECT_EQ(static_cast<size_t>(info.st_size), segment_file_bytes(10000));
  EXPECT_GE(static_cast<size_t>(info.st_blocks) * 512, segment_file_bytes(10000));
  EXPECT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  EXPECT_EQ(ftruncate(fd, 0), -1);
  EXPECT_EQ(ftruncate(fd, 1 << 20), -1);
  EXPECT_EQ(fcntl(fd, F_ADD_SEALS, 0x10 /* F_SEAL_FUTURE_WRITE */), -1);
}

TEST(Segment, OwnerAndPeerTakeNoPageFaultsLater) {
  if (kThreadSanitizer || kAddressSanitizer) GTEST_SKIP() << "counts page faults";
  const size_t bytes = size_t{16} << 20, pages = bytes / page_bytes();
  const auto segment = Segment::create(bytes);
  long before = page_faults();
  std::memset(segment->base(), 1, bytes);
  EXPECT_LT(page_faults() - before, static_cast<long>(pages / 8));
  const auto again = Segment::attach(segment->id(), bytes, dup(segment->descriptor()));
  before = page_faults();
  std::memset(again->base(), 2, bytes);
  EXPECT_LT(page_faults() - before, static_cast<long>(pages / 8));
  EXPECT_EQ(bytes_of(*segment)[bytes - 1], 2);
}

TEST(Segment, ReusedAddressIsAnotherSegment) {
  std::set<SegmentId> ids;
  std::set<void*> bases;
  for (int i = 0; i < 20; ++i) {
    const auto segment = Segment::create(5000);
    EXPECT_TRUE(ids.insert(segment->id()).second);
    bases.insert(segment->base());
  }
  EXPECT_LT(bases.size(), 20u);  // else this test has shown nothing
}

TEST(Segment, AnotherUserCannotOpenIt) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const auto segment = Segment::create(1);
  for (const int fd : {segment->descriptor(), open_nameless(true)}) {
    const std::string path = fmt::format("/proc/{}/fd/{}", getpid(), fd);
    const pid_t pid = spawn([&] {
      EXPECT_GE(open(path.c_str(), O_RDWR), 0);  // the path is right
      ASSERT_EQ(setgid(65534), 0);
      ASSERT_EQ(setuid(65534), 0);
      EXPECT_EQ(open(path.c_str(), O_RDONLY), -1);
      // Even with the kernel's gate to the other process open, the file's own mode refuses.
      EXPECT_EQ(open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_RDONLY), -1);
    });
    EXPECT_EQ(wait_for(pid), 0);
    if (fd != segment->descriptor()) close(fd);
  }
}

TEST(Segment, AttachRefusesWhatWasNotAnnounced) {
  const auto segment = Segment::create(10000);
  const long before = open_descriptors();
  const auto copy = [&] { return dup(segment->descriptor()); };
  const SegmentId id = segment->id();
  expect_error(Kind::peer, "announced", [&] { Segment::attach(id, 1 << 20, copy()); });
  expect_error(Kind::peer, "announced", [&] { Segment::attach(id, 100, copy()); });
  expect_error(Kind::peer, "announced", [&] { Segment::attach(id, SIZE_MAX - 10, copy()); });
  expect_error(Kind::peer, "is not the segment", [&] { Segment::attach(id, 10001, copy()); });
  expect_error(Kind::peer, "is not the segment", [&] { Segment::attach(id + 1, 10000, copy()); });
  expect_error(Kind::peer, "fstat", [&] { Segment::attach(id, 10000, -1); });
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  expect_error(Kind::peer, "nameless", [&] { Segment::attach(id, 10000, ends[0]); });
  close(ends[1]);
  expect_error(Kind::peer, "nameless",
               [&] { Segment::attach(id, 10000, open("/proc/self/exe", O_RDONLY)); });
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Segment, AttachRefusesUnsealedAndUnsignedFiles) {
  const long before = open_descriptors();
  const size_t file_bytes = segment_file_bytes(10000);
  const int unsealed = open_nameless();
  allocate_file(unsealed, file_bytes);
  expect_error(Kind::peer, "not sealed", [&] { Segment::attach(1, 10000, unsealed); });
  const int unsigned_file = open_nameless();
  allocate_file(unsigned_file, file_bytes);
  const uint64_t header[] = {0x1234, 1, 10000};  // number and size as announced, by no Segment
  ASSERT_EQ(pwrite(unsigned_file, header, sizeof header, 0), 24);
  seal_file(unsigned_file);
  expect_error(Kind::peer, "is not the segment", [&] { Segment::attach(1, 10000, unsigned_file); });
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Segment, WithoutMemfdTheFileIsUnlinked) {
  umask(0);
  const int fd = open_nameless(true);
  allocate_file(fd, 8192);
  struct stat info {};
  ASSERT_EQ(fstat(fd, &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_EQ(info.st_nlink, 0u);
  EXPECT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  EXPECT_FALSE(tide_file_in("/dev/shm"));
  check_file(fd, 8192, false);
  expect_error(Kind::peer, "sealed", [&] { check_file(fd, 8192, true); });
  // Nobody can give it a name either.
  EXPECT_EQ(linkat(AT_FDCWD, fmt::format("/proc/self/fd/{}", fd).c_str(), AT_FDCWD,
                   "/dev/shm/tide.linked", AT_SYMLINK_FOLLOW),
            -1);
  close(fd);
}

// Open files that have a name, and all open files.
std::pair<int, int> open_files() {
  int named = 0, all = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    struct stat info {};
    if (stat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    ++all;
    if (info.st_nlink != 0) ++named;
  }
  return {named, all};
}

TEST(Segment, NothingIsLeftAfterSigkill) {
  Board& board = Board::make();
  const pid_t pid = spawn([&] {
    const auto [named, all] = open_files();
    Mailbox mailbox;
    const auto segment = Segment::create(1 << 20);
    allocate_file(open_nameless(true), 1 << 20);
    EXPECT_EQ(open_files(), std::pair(named, all + 2));  // both nameless already while they live
    board.word[0] = ::testing::Test::HasFailure() ? 1 : 2;
    pause();
  });
  while (board.word[0] == 0) sched_yield();
  EXPECT_EQ(board.word[0], 2u);
  kill(pid, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(wait_for(pid)));
  EXPECT_FALSE(tide_file_in("/dev/shm"));
}

TEST(Segment, TooMuchIsAnErrorAtOnce) {
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX - 4096, size_t{INT64_MAX}})
    expect_error(Kind::no_mem, "more than a file can hold", [&] { Segment::create(bytes); });
  const long before = open_descriptors();
  expect_error(Kind::no_mem, "shared memory of 1125899906846720 bytes", [] {
    Segment::create(size_t{1} << 50);
  });  // which limit is met first depends on the machine
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Segment, LimitsOfTheProcessAreErrorsNotSignals) {
  const pid_t pid = spawn([] {
    lower_limit(RLIMIT_FSIZE, 1 << 20);
    expect_error(Kind::no_mem, "RLIMIT_FSIZE", [] { Segment::create(1 << 20); });
    EXPECT_NE(Segment::create(1 << 19), nullptr);
    lower_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    lower_limit(RLIMIT_AS, pages * page_bytes() + (size_t{64} << 20));
    const long before = open_descriptors();
    expect_error(Kind::no_mem, "RLIMIT_AS", [] { Segment::create(size_t{128} << 20); });
    EXPECT_EQ(open_descriptors(), before);
    lower_limit(RLIMIT_AS, RLIM_INFINITY);
    lower_limit(RLIMIT_NOFILE, 3);
    expect_error(Kind::no_mem, "RLIMIT_NOFILE", [] { open_nameless(); });
    expect_error(Kind::no_mem, "RLIMIT_NOFILE", [] { Mailbox mailbox; });
  });
  EXPECT_EQ(wait_for(pid), 0);
}

TEST(Segment, FullDevShmIsAnErrorNotSigbus) {
  Board& board = Board::make();
  const pid_t pid = spawn([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=256k") != 0) {
      board.word[0] = 1;
      return;
    }
    const int fd = open_nameless(true);
    expect_error(Kind::no_mem, "No space left", [&] { allocate_file(fd, 1 << 20); });
  });
  EXPECT_EQ(wait_for(pid), 0);
  if (board.word[0] != 0) GTEST_SKIP() << "needs root to mount";
}

TEST(Segment, SignalsDelayAndFailuresEndTheAllocation) {
  fallocate_calls = 0;
  fallocate_fails = [](int call, off_t bytes) {
    EXPECT_LE(bytes, off_t{64} << 20);  // a signal costs a piece, not all
    return call == 0 || call == 2 ? EINTR : 0;
  };
  const auto segment = Segment::create(size_t{96} << 20);
  EXPECT_EQ(fallocate_calls, 4);
  EXPECT_EQ(bytes_of(*segment)[segment->bytes() - 1], 0);
  const long before = open_descriptors();
  for (int failing = 0; failing < 2; ++failing) {
    fallocate_calls = 0;
    fallocate_fails = [=](int call, off_t) { return call == failing ? ENOSPC : 0; };
    expect_error(Kind::no_mem, "100667392 bytes: posix_fallocate at byte",
                 [] { Segment::create(size_t{96} << 20); });
  }
  fallocate_fails = nullptr;
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace tide::test

extern "C" int posix_fallocate(int fd, off_t from, off_t bytes) {
  using namespace tide::test;
  if (fallocate_fails)
    if (const int code = fallocate_fails(fallocate_calls++, bytes)) return code;
  return fallocate(fd, 0, from, bytes) == 0 ? 0 : errno;
}
