// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// P27 on a running job: another user (the program beside this one) can open nothing, and its false
// letters, in a flood, neither get in nor keep the job from its work.  Needs root.
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "list.hpp"

namespace tide_test {
namespace {

pid_t start_stranger(const std::vector<int>& pids) {
  std::vector<std::string> words{TEST_TIDE_STRANGER, "3"};
  for (const int pid : pids) words.push_back(std::to_string(pid));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  EXPECT_EQ(0, posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ));
  return pid;
}

size_t descriptors_of_tide() {  // open ones: between calls only the mailbox's socket may be there
  size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    n += std::filesystem::read_symlink(entry.path(), gone).string().find("memfd:tide") !=
         std::string::npos;
  }
  return n;
}

TEST(Stranger, GetsNothingAndStopsNobody) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const Team& team = world();
  const mode_t open_to_all = umask(0);  // whatever the user's umask is
  const Comm comm(dup(MPI_COMM_WORLD));
  List list(team_of(comm), usual_list(MPIX_TIDE_BF16));
  Pieces grads(team, Memory::tide, list.grad_bytes());
  std::vector<int> pids(static_cast<size_t>(team.size));
  int mine = getpid();
  MPI_Allgather(&mine, 1, MPI_INT, pids.data(), 1, MPI_INT, team.comm);
  EXPECT_EQ(0u, descriptors_of_tide());
  pid_t stranger = team.rank == 0 ? start_stranger(pids) : -1;
  int status = -1, rounds = 0;
  for (int over = 0; !over; ++rounds) {
    expect_usable(team_of(Comm(dup(MPI_COMM_WORLD))));
    check_reduce_scatter(list, {.out_dtype = MPIX_TIDE_FP32});
    EXPECT_EQ(0u, descriptors_of_tide());
    if (team.rank == 0) over = waitpid(stranger, &status, WNOHANG) == stranger;
    MPI_Bcast(&over, 1, MPI_INT, 0, team.comm);
  }
  umask(open_to_all);
  EXPECT_GT(rounds, 1) << "nothing was set up during the attack";
  if (team.rank != 0) return;
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(0, WEXITSTATUS(status)) << "see the stranger's own words above";
}

}  // namespace
}  // namespace tide_test
