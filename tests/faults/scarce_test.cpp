// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// P28: a system call of Tide's fails, on one rank or on all: the same error on all ranks, or
// success on all (a documented fallback), soon, and the communicator works afterwards.  Call k
// fails, for k = 1, 2, ... until the operation gets through without reaching call k.
#include <dirent.h>

#include <cerrno>
#include <chrono>

#include "list.hpp"
#include "shim.hpp"

namespace tide_test {
namespace {

const Failure no_mem{0, MPI_ERR_NO_MEM}, intern{0, MPI_ERR_INTERN};
const Failure peer{MPIX_TIDE_ERR_PEER, 0};

struct Lack {
  Site site;
  int code;
  const char* name;
  Failure failure;
};
const Lack memory_lacks[] = {{Site::memfd_create, EMFILE, "memfd_create", no_mem},
                             {Site::mmap, ENOMEM, "mmap", no_mem},
                             {Site::ftruncate, ENOSPC, "ftruncate", no_mem},
                             {Site::madvise, ENOMEM, "madvise", no_mem},
                             {Site::posix_fallocate, ENOSPC, "posix_fallocate", no_mem},
                             {Site::fcntl, EPERM, "fcntl", intern}};

size_t descriptors() {
  size_t n = 0;
  DIR* dir = opendir("/proc/self/fd");
  while (readdir(dir)) ++n;
  closedir(dir);
  return n;
}

int create(const Team& team) {
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const MPIX_Tide_param params[] = {param(513, 65), param(5, 3)};
  const int code = MPIX_Tide_group_create(team.comm, 2, params, MPI_INFO_NULL, &group);
  EXPECT_EQ(code == MPI_SUCCESS, group != MPIX_TIDE_GROUP_NULL);  // written only on success
  const std::string message = MPIX_Tide_error_message();
  if (group) TIDE_OK(MPIX_Tide_group_free(&group));
  return code;
}

int allocate(const Team& team, MPI_Info info) {
  void* base = nullptr;
  const int code = MPIX_Tide_alloc(team.comm, 12345, info, &base);
  EXPECT_EQ(code == MPI_SUCCESS, base != nullptr);
  if (base) TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
  return code;
}

using Act = int (*)(const Team&);
int allocate_own(const Team& team) { return allocate(team, MPI_INFO_NULL); }
int allocate_shared(const Team& team) { return allocate(team, Info{{"tide_share", "node"}}); }

// One attempt with a fresh communicator.  True once call k was not reached by any rank.
bool attempt(const Lack& lack, bool everywhere, int k, bool used_before, Act act) {
  const Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  if (used_before) expect_usable(team);
  sync(team);
  const bool here = everywhere || team.rank == team.size - 1;
  const size_t before = descriptors();
  const auto start = std::chrono::steady_clock::now();
  if (here) arm(lack.site, k, lack.code);
  const int code = act(team);
  const int calls = here ? disarm() : 0;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const bool reached = !on_all(team, calls < k), good = on_all(team, code == MPI_SUCCESS);
  if (!reached) {
    EXPECT_EQ(MPI_SUCCESS, code) << MPIX_Tide_error_message();
    EXPECT_GT(k, 1) << "there is no such call: this sweep shows nothing";
    return true;
  }
  if (!good) expect_failure_on_all(team, code, {lack.failure});
  EXPECT_LT(took.count(), 5) << "seconds until " << (good ? "the fallback" : "the error");
  if (used_before) {
    EXPECT_EQ(before, descriptors());
  }
  expect_usable(team);
  return false;
}

void sweep(const Lack& lack, bool everywhere, bool used_before, Act act) {
  for (int k = 1; k <= 64 && !testing::Test::HasFailure(); ++k) {
    SCOPED_TRACE(std::string(lack.name) + ", call " + std::to_string(k) +
                 (everywhere ? " on all ranks" : " on the last rank"));
    if (attempt(lack, everywhere, k, used_before, act)) return;
    // Whether to go on is for all to say: a failure here is not one on every rank.
    if (!on_all(world(), !testing::Test::HasFailure())) return;
  }
}

// The very first use of Tide in the process: must stand first in this program.
TEST(AFirstUse, NoSocketForTheMailboxIsTheSameErrorOnAll) {
  for (const bool everywhere : {true, false}) {
    const bool here = everywhere || world().rank == world().size - 1;
    if (here) arm(Site::socket, 1, EMFILE);
    const int code = create(world());
    EXPECT_EQ(here ? 1 : 0, disarm()) << "the mailbox's socket";
    expect_failure_on_all(world(), code, {no_mem}, {"RLIMIT_NOFILE"});
  }
  expect_usable(world());
}

TEST(Scarce, GroupCreate) {
  for (const Lack& lack : memory_lacks)
    for (const bool everywhere : {false, true}) sweep(lack, everywhere, false, create);
}

TEST(Scarce, GroupCreateOnAKnownCommunicator) {
  for (const Lack& lack : memory_lacks)
    for (const bool everywhere : {false, true}) sweep(lack, everywhere, true, create);
}

TEST(Scarce, Alloc) {
  for (const Lack& lack : memory_lacks)
    for (const bool everywhere : {false, true}) sweep(lack, everywhere, true, allocate_own);
}

TEST(Scarce, AllocSharedByTheNode) {
  for (const Lack& lack : memory_lacks)
    if (world().members.size() == 1 || world().size % 2 == 0)  // else the last rank makes none
      for (const bool everywhere : {false, true}) {
        if (!everywhere && lack.site != Site::mmap) continue;  // the last rank only attaches
        sweep(lack, everywhere, true, allocate_shared);
      }
}

// A call opens, maps and sends nothing: there is nothing that could fail.
TEST(Scarce, CallsNeedNothing) {
  const Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  for (int s = 0; s < static_cast<int>(Site::process_vm_readv); ++s) {
    List list(team, usual_list(MPIX_TIDE_BF16));
    Pieces grads(team, Memory::by_param, list.grad_bytes());
    Pieces shards(team, Memory::by_rank, list.out_bytes(MPIX_TIDE_FP32));
    ReduceOptions o;
    o.out_dtype = MPIX_TIDE_FP32;
    write_grads(list, grads.list(), o);
    arm(static_cast<Site>(s), 1, EMFILE, 1000);
    TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.list()), shards.list(), o.out_dtype,
                                     o.op, o.scale, list.group()));
    EXPECT_EQ(0, disarm()) << "site " << s;
    expect_reduced(list, shards.list(), o, "first call");
  }
}

// The kernel is short for a moment: the letter is sent again.
TEST(Scarce, MomentaryLackWhileSendingIsWaitedFor) {
  for (const int code : {ENOBUFS, ENOMEM, EAGAIN, EINTR, ETOOMANYREFS}) {
    const Comm comm(dup(MPI_COMM_WORLD));
    if (world().rank == world().size - 1) arm(Site::sendmsg, 1, code, 3);
    const int seen = create(team_of(comm));
    const int calls = disarm();
    EXPECT_EQ(MPI_SUCCESS, seen) << MPIX_Tide_error_message();
    if (world().rank == world().size - 1 && world().node.size() > world().members.size()) {
      EXPECT_GT(calls, 3);
    }
    expect_usable(team_of(comm));
  }
}

// No letter can be sent at all (a security module, say): at creation the ranks become nodes of
// their own; later it is the same error on all.
TEST(Scarce, NoLetterCanBeSent) {
  const Lack lack{Site::sendmsg, EPERM, "sendmsg", peer};
  if (world().node.size() == world().members.size())
    GTEST_SKIP() << "nobody has anybody to write to";
  const Comm apart(dup(MPI_COMM_WORLD));
  arm(lack.site, 1, lack.code, 1000);
  const int code = create(team_of(apart));
  EXPECT_LT(0, disarm());
  EXPECT_EQ(MPI_SUCCESS, code) << MPIX_Tide_error_message();
  MPIX_Tide_topology topology;
  TIDE_OK(MPIX_Tide_comm_topology(apart, &topology));
  EXPECT_EQ(1, topology.local_size);
  EXPECT_EQ(world().size, topology.nodes);
  expect_usable(team_of(apart));
  const Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  expect_usable(team);
  arm(lack.site, 1, lack.code, 1000);
  const int refused = allocate_own(team);
  disarm();
  expect_failure_on_all(team, refused, {peer}, {"mailbox"});
  expect_usable(team);
}

// process_vm_readv is refused when it is probed: foreign memory is staged instead.
TEST(Scarce, ForeignMemoryIsStagedWhereItCannotBeReached) {
  const Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  if (world().rank == world().size - 1) arm(Site::process_vm_readv, 1, EPERM, 1000);
  List list(team, usual_list(MPIX_TIDE_BF16));
  check_allgather(list, {.shards = Memory::foreign, .params = Memory::scattered});
  ReduceOptions o;
  o.grads = Memory::foreign;
  o.out_dtype = MPIX_TIDE_FP32;
  check_reduce_scatter(list, o);
  disarm();
}

// It is permitted, but one of many transfers fails: the same error on all, the next call works.
void transfer_fails(Site site, bool reduce) {
  const Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  List list(team, usual_list(MPIX_TIDE_BF16));
  Pieces full(team, Memory::foreign, reduce ? list.grad_bytes() : list.full_bytes());
  Pieces part(team, Memory::tide, reduce ? list.out_bytes(0) : list.shard_bytes());
  if (reduce) write_grads(list, full.list(), {});
  if (!reduce) write_shards(list, part.list(), 3);
  const auto call = [&] {
    return reduce ? MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(full.list()), part.list(), 0,
                                             MPIX_TIDE_SUM, 1, list.group())
                  : MPIX_Tide_allgather(MPIX_TIDE_INPUTS(part.list()), full.list(), list.group());
  };
  MPIX_Tide_set_log([](int, const char*, void*) {}, nullptr);  // each failed transfer has its line
  bool through = false;
  for (int k = 1; k < 200 && !through; ++k) {
    if (team.rank == team.size - 1) arm(site, k, EFAULT);
    const int code = call(), calls = disarm();
    through = on_all(team, team.rank != team.size - 1 || calls < k);
    if (!through) expect_failure_on_all(team, code, {peer}, {"transfer"});
    TIDE_OK(call());
    if (reduce) expect_reduced(list, part.list(), {}, "after a failed transfer");
    if (!reduce) expect_gathered(list, full.list(), 3, "after a failed transfer");
    EXPECT_FALSE(through && k == 1) << "no transfer was made: this sweep shows nothing";
    if (!on_all(team, !testing::Test::HasFailure())) break;
  }
  MPIX_Tide_set_log(nullptr, nullptr);
  EXPECT_TRUE(through || testing::Test::HasFailure());
}

TEST(Scarce, FailedReadOfForeignMemory) {
  if (world().my_node() >= 0 && world().members.back().size() == 1)
    GTEST_SKIP() << "nothing to read";
  transfer_fails(Site::process_vm_readv, true);
}

TEST(Scarce, FailedWriteOfForeignMemory) {
  if (world().members.back().size() == 1) GTEST_SKIP() << "nothing to write";
  transfer_fails(Site::process_vm_writev, false);
}

}  // namespace
}  // namespace tide_test
