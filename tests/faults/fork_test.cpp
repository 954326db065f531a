// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// V35, P29: a forked child exits (with atexit functions and static destructors), execs, or frees
// what it inherited, and neither the parent nor the peers notice.
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "list.hpp"
#include "shim.hpp"

namespace tide_test {
namespace {

bool is_child = false;
int atexit_pipe = -1;

extern "C" void tell_that_atexit_ran() {
  if (is_child && atexit_pipe >= 0 && write(atexit_pipe, "x", 1) != 1) _exit(9);
}

// The child does `act`, which ends it.
template <class Act>
pid_t child_that(Act act) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  is_child = true;
  alarm(20);
  act();
  _exit(7);
}

void expect_exit(pid_t pid, int wanted) {
  ASSERT_GT(pid, 0);
  int status = -1;
  ASSERT_EQ(pid, waitpid(pid, &status, 0));
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(wanted, WEXITSTATUS(status));
}

// Everything alive while the child comes and goes: groups, both kinds of memory, node-shared pages.
struct Job {
  Comm comm{dup(MPI_COMM_WORLD)};
  Team team = team_of(comm);
  List list{team, usual_list(MPIX_TIDE_BF16)};
  Pieces grads, shards{team, Memory::tide, list.out_bytes(MPIX_TIDE_FP32)};
  void* shared = nullptr;
  ReduceOptions o;
  explicit Job(Memory memory = Memory::by_param) : grads(team, memory, list.grad_bytes()) {
    o.out_dtype = MPIX_TIDE_FP32;
    TIDE_OK(MPIX_Tide_alloc(comm, 5000, Info{{"tide_share", "node"}}, &shared));
    *static_cast<unsigned char*>(shared) = 5;
    write_grads(list, grads.list(), o);
    calls(1);
  }
  ~Job() { TIDE_OK(MPIX_Tide_free(comm, shared)); }
  void calls(int n) {
    for (int i = 0; i < n; ++i) {
      shards.fill(0xFF);
      TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.list()), shards.list(), o.out_dtype,
                                       o.op, o.scale, list.group()));
      expect_reduced(list, shards.list(), o, "beside a child");
      check_allgather(list, {.salt = static_cast<uint64_t>(i)});
    }
  }
  void go_on() {
    calls(10);
    EXPECT_EQ(5, *static_cast<unsigned char*>(shared));
  }
};

TEST(Fork, ChildExitsWithItsAtexitFunctions) {
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  atexit_pipe = ends[1];
  ASSERT_EQ(0, std::atexit(tell_that_atexit_ran));
  Job job;
  expect_exit(child_that([] { std::exit(0); }), 0);
  char byte = 0;
  EXPECT_EQ(1, read(ends[0], &byte, 1));
  job.go_on();
  atexit_pipe = -1;
  close(ends[0]);
  close(ends[1]);
}

TEST(Fork, ChildExecs) {
  Job job;
  // Nothing of ours is open in the new program: neither the mailbox's socket nor memory.
  expect_exit(child_that([] {
                execl("/bin/sh", "sh", "-c",
                      "! ls -l /proc/self/fd /proc/$$/fd | grep -E 'memfd:tide|tide\\.'", nullptr);
              }),
              0);
  job.go_on();
}

TEST(Fork, ChildFreesWhatItInherited) {
  Job job(Memory::tide);
  expect_exit(child_that([&] {
                // No verdict on the codes: a child of an MPI process may call nothing of MPI's.
                MPIX_Tide_free(MPI_COMM_NULL, job.grads.base());
                MPIX_Tide_free(MPI_COMM_NULL, job.shards.base());
                MPIX_Tide_free(MPI_COMM_NULL, job.shared);
                MPIX_Tide_group group = job.list.group();
                MPIX_Tide_group_free(&group);
                _exit(0);
              }),
              0);
  // Had peers taken the child's free for ours, they would have dropped their mapping and copied
  // through the kernel.
  for (const Site site : {Site::process_vm_readv, Site::process_vm_writev}) {
    arm(site, 0, 0);
    job.go_on();
    EXPECT_EQ(0, disarm());
  }
}

// The child lives on while the parent works, frees everything and makes new; then it ends.
TEST(Fork, ChildOutlivesGroupAndMemory) {
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  pid_t pid;
  {
    Job job;
    pid = child_that([&] {
      close(ends[1]);
      char byte;
      _exit(read(ends[0], &byte, 1) == 0 ? 0 : 8);  // until the parent closes its end
    });
    job.go_on();
  }
  expect_usable(world());
  Job again;
  close(ends[1]);
  expect_exit(pid, 0);
  again.go_on();
  close(ends[0]);
}

// One rank forks, the others do not wait for it.
TEST(Fork, OnOneRankOnly) {
  Job job;
  pid_t pid = -1;
  if (job.team.rank == 0) pid = child_that([] { std::exit(0); });
  job.calls(3);
  if (job.team.rank == 0) expect_exit(pid, 0);
  job.go_on();
}

}  // namespace
}  // namespace tide_test
