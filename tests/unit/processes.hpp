// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Several processes in one test, without MPI: fork, and a page that they share.
#pragma once
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/memory.hpp"

namespace tide::test {

// Its shadow memory faults and is 2 GiB slow where ours is not.
#ifdef __SANITIZE_THREAD__
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

#ifdef __SANITIZE_ADDRESS__
constexpr bool kAddressSanitizer = true;
#else
constexpr bool kAddressSanitizer = false;
#endif

struct Board {
  MailAddress address[8];
  std::atomic<uint64_t> arrived, word[8];
  static Board& make() {
    void* at =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return *new (at) Board{};
  }
  ~Board() = delete;  // lives until the process ends
  void barrier(int processes) {
    const uint64_t round = arrived.fetch_add(1) / processes + 1;
    while (arrived.load() < round * processes) sched_yield();
  }
  std::vector<MailAddress> post(int rank, int processes, const MailAddress& mine) {
    address[rank] = mine;
    barrier(processes);
    return {address, address + processes};
  }
};

// In a child: 0 where `body` neither fails nor throws.  A hang ends by SIGALRM.
inline pid_t spawn(const std::function<void()>& body) {
  fflush(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  signal(SIGALRM, SIG_DFL);
  alarm(40);
  try {
    body();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "thrown: " << error.what();
  }
  fflush(nullptr);
  _exit(::testing::Test::HasFailure() ? 1 : 0);
}
inline int wait_for(pid_t pid) {
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}
inline void run_processes(int processes, const std::function<void(int)>& body) {
  pid_t pids[8];
  for (int rank = 0; rank < processes; ++rank) pids[rank] = spawn([&] { body(rank); });
  for (int rank = 0; rank < processes; ++rank)
    EXPECT_EQ(wait_for(pids[rank]), 0) << "process " << rank;
}

inline long open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

// The Error that `body` throws.
inline Error thrown_by(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return Error(Kind::none, "nothing was thrown");
}
inline void expect_error(Kind kind, const std::string& part, const std::function<void()>& body) {
  const Error error = thrown_by(body);
  EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
  EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
}

inline unsigned char* bytes_of(const Segment& segment) {
  return static_cast<unsigned char*>(segment.base());
}

}  // namespace tide::test
