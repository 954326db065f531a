// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote_memory.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/memory_file.hpp"
#include "processes.hpp"

namespace tide::test {
namespace {

uint64_t address_of(const void* at) { return reinterpret_cast<uintptr_t>(at); }

// A child that fills `data` (its own copy), waits for the word and ends with what it found then.
struct Peer {
  Board& board = Board::make();
  std::vector<uint32_t> data;
  uint64_t word = 1;
  pid_t pid;
  explicit Peer(size_t count) : data(count) {
    pid = spawn([this] {
      std::iota(data.begin(), data.end(), 1u);
      word = 42;
      board.word[0] = 1;
      while (board.word[0] == 1) sched_yield();
      for (size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], 7 * i) << i;
    });
    while (board.word[0] == 0) sched_yield();
  }
  ~Peer() {
    if (pid > 0) kill(pid, SIGKILL);  // the test failed before its end
  }
  int end() {
    board.word[0] = 2;
    return wait_for(std::exchange(pid, 0));
  }
};

TEST(RemoteMemory, ReadsAndWritesInPieces) {
  for (const size_t limit : {size_t{1} << 31, size_t{1000}, size_t{4097}, size_t{400001}}) {
    Peer peer(100000);
    const size_t bytes = peer.data.size() * 4;
    const RemoteMemory remote{peer.pid, limit};
    std::vector<uint32_t> local(peer.data.size() + 2000, 9);  // not to be touched
    remote.read(local.data(), address_of(peer.data.data()), bytes);
    EXPECT_EQ(std::count(local.end() - 2000, local.end(), 9u), 2000);
    local.resize(peer.data.size());
    for (size_t i = 0; i < local.size(); ++i) ASSERT_EQ(local[i], i + 1);
    for (size_t i = 0; i < local.size(); ++i) local[i] = static_cast<uint32_t>(7 * i);
    remote.write(address_of(peer.data.data()), local.data(), bytes);
    remote.read(local.data(), 0, 0);  // nothing, from nowhere
    EXPECT_EQ(peer.end(), 0);
  }
}

TEST(RemoteMemory, MoreThanOneCallMovesByItself) {
  if (kThreadSanitizer) GTEST_SKIP() << "too slow";
  // 2 GiB + 1 MiB of addresses, all the same 1 MiB of memory.
  const size_t part = size_t{1} << 20, bytes = (size_t{1} << 31) + part;
  const auto segment = Segment::create(part), to = Segment::create(part);
  const auto window = [&](const Segment& of) {
    auto* at = static_cast<unsigned char*>(
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    const auto begin = static_cast<off_t>(page_bytes());  // behind the header
    for (size_t i = 0; i < bytes; i += part)
      mmap(at + i, part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, of.descriptor(), begin);
    return at;
  };
  unsigned char *from = window(*segment), *into = window(*to);
  std::iota(from, from + part, 0);
  // No limit of ours: the kernel moves a part, and the loop goes on.
  RemoteMemory{getpid(), SIZE_MAX}.read(into, address_of(from), bytes);
  EXPECT_EQ(std::memcmp(from, into, part), 0);
  munmap(from, bytes);
  munmap(into, bytes);
}

TEST(RemoteMemory, ErrorsNameTheProcessAndTheReason) {
  auto* pages = static_cast<unsigned char*>(
      mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(pages + 8192, 4096);
  std::vector<unsigned char> local(3 * 4096);
  const auto read = [&] {
    RemoteMemory{getpid(), 4096}.read(local.data(), address_of(pages), 12288);
  };
  expect_error(Kind::peer, fmt::format("process {}: stopped after 8192: Bad address", getpid()),
               read);
  expect_error(Kind::peer, "Bad address", [&] { write_remote(getpid(), 8, local.data(), 8); });
  const pid_t gone = spawn([] {});
  wait_for(gone);
  expect_error(Kind::peer, "No such process", [&] { read_remote(gone, local.data(), 4096, 8); });
  munmap(pages, 8192);
}

TEST(RemoteMemory, ProbeTellsThePeerFromAnother) {
  Peer peer(0);
  const uint64_t at = address_of(&peer.word);
  EXPECT_TRUE(remote_memory_works(peer.pid, at, 42));
  EXPECT_FALSE(remote_memory_works(getpid(), at, 42));  // here the word is 1
  EXPECT_FALSE(remote_memory_works(peer.pid, at, 43));
  EXPECT_FALSE(remote_memory_works(peer.pid, 8, 42));
  if (geteuid() == 0) {
    const pid_t stranger = spawn([&] {
      EXPECT_TRUE(remote_memory_works(peer.pid, at, 42));
      ASSERT_EQ(setuid(65534), 0);
      EXPECT_FALSE(remote_memory_works(peer.pid, at, 42));
    });
    EXPECT_EQ(wait_for(stranger), 0);
  }
  const pid_t pid = peer.pid;
  EXPECT_EQ(peer.end(), 0);
  EXPECT_FALSE(remote_memory_works(pid, at, 42));
}

}  // namespace
}  // namespace tide::test
