// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// P28: the limits that a site sets (descriptors, address space, context ids), lowered on one rank
// or on all around one call: the same error on all ranks, or success on all; raised again it works.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "list.hpp"

namespace tide_test {
namespace {

const Failure no_mem{0, MPI_ERR_NO_MEM}, intern{0, MPI_ERR_INTERN};

class Limit {  // until the end of the scope
 public:
  Limit(__rlimit_resource which, rlim_t to) : which_(which) {
    getrlimit(which_, &old_);
    rlimit now = old_;
    now.rlim_cur = std::min(to, old_.rlim_max);
    EXPECT_EQ(0, setrlimit(which_, &now));
  }
  ~Limit() { EXPECT_EQ(0, setrlimit(which_, &old_)); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  __rlimit_resource which_;
  rlimit old_{};
};

rlim_t mapped_bytes() {
  unsigned long pages = 0;
  FILE* file = std::fopen("/proc/self/statm", "r");
  EXPECT_EQ(1, std::fscanf(file, "%lu", &pages));
  std::fclose(file);
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

rlim_t lowest_free_descriptor() {
  const int fd = ::dup(0);
  close(fd);
  return static_cast<rlim_t>(fd);
}

int create(const Team& team, MPI_Count rows) {
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const MPIX_Tide_param p = param(rows, 65);
  const int code = MPIX_Tide_group_create(team.comm, 1, &p, MPI_INFO_NULL, &group);
  const std::string message = MPIX_Tide_error_message();
  if (group) TIDE_OK(MPIX_Tide_group_free(&group));
  return code;
}

int allocate(const Team& team, MPI_Aint bytes, MPI_Info info = MPI_INFO_NULL) {
  void* base = nullptr;
  const int code = MPIX_Tide_alloc(team.comm, bytes, info, &base);
  if (base) TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
  return code;
}

// Does `act` under the limit on the last rank, then on all: with `free` units above what is in use.
template <class Act>
void under(__rlimit_resource which, rlim_t free, bool used_before, const char* word, Act act) {
  for (const bool everywhere : {false, true}) {
    SCOPED_TRACE(std::to_string(free) + (everywhere ? " free on all ranks" : " free on the last"));
    const Comm comm(dup(MPI_COMM_WORLD));
    const Team team = team_of(comm);
    if (used_before) expect_usable(team);
    int code;
    {
      const rlim_t now = which == RLIMIT_NOFILE ? lowest_free_descriptor() : mapped_bytes();
      const bool here = everywhere || team.rank == team.size - 1;
      const Limit limit(which, here ? now + free : RLIM_INFINITY);
      code = act(team);
    }
    if (on_all(team, code == MPI_SUCCESS)) {
      EXPECT_GT(free, 0u) << "the limit was not felt: this shows nothing";
    } else {
      expect_failure_on_all(team, code, {no_mem}, {word});
    }
    expect_usable(team);
  }
}

TEST(Limits, DescriptorsAtTheFirstCallOnACommunicator) {
  expect_usable(world());  // the mailbox's socket is the process's own
  for (const rlim_t free : {0, 1, 2, 3})
    under(RLIMIT_NOFILE, free, false, "RLIMIT_NOFILE", [](const Team& t) { return create(t, 9); });
}

TEST(Limits, DescriptorsOnAKnownCommunicator) {
  for (const rlim_t free : {0, 1, 2}) {
    under(RLIMIT_NOFILE, free, true, "RLIMIT_NOFILE", [](const Team& t) { return create(t, 9); });
    under(RLIMIT_NOFILE, free, true, "RLIMIT_NOFILE",
          [](const Team& t) { return allocate(t, 70000); });
  }
}

TEST(Limits, AddressSpaceForMemory) {
  // 64 MiB for each rank of a node, with room for some of them.
  for (const rlim_t free : {rlim_t{16} << 20, rlim_t{80} << 20}) {
    under(RLIMIT_AS, free, true, "RLIMIT_AS",
          [](const Team& t) { return allocate(t, MPI_Aint{64} << 20); });
  }
  under(RLIMIT_AS, rlim_t{16} << 20, true, "RLIMIT_AS", [](const Team& t) {
    return allocate(t, MPI_Aint{64} << 20, Info{{"tide_share", "node"}});
  });
}

// Several nodes: the workspace is half a shard in fp32.
TEST(Limits, AddressSpaceForTheWorkspace) {
  if (world().members.size() == 1) GTEST_SKIP() << "one node needs no workspace";
  MPIX_Tide_sizes sizes;
  List list(world(), {param(1 << 20, 65)});
  TIDE_OK(MPIX_Tide_group_sizes(list.group(), &sizes));
  ASSERT_LT(MPI_Count{32} << 20, sizes.reduce_scatter_workspace_bytes);
  under(RLIMIT_AS, rlim_t{16} << 20, true, "RLIMIT_AS",
        [](const Team& t) { return create(t, 1 << 20); });
}

// MPICH has 2,046 communicators.  None left, then one (Tide needs two for a moment).
TEST(Limits, ContextIds) {
#ifdef MPICH_VERSION
  const Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  std::vector<MPI_Comm> taken;
  for (MPI_Comm next; taken.size() < 5000 && MPI_Comm_dup(MPI_COMM_WORLD, &next) == MPI_SUCCESS;)
    taken.push_back(next);
  ASSERT_LT(taken.size(), 5000u);
  for (int left : {0, 1}) {
    for (int i = 0; i < left; ++i) {
      MPI_Comm_free(&taken.back());
      taken.pop_back();
    }
    SCOPED_TRACE(std::to_string(left) + " communicators left");
    expect_failure_on_all(team, create(team, 9), {intern}, {"communicators"});
  }
  for (MPI_Comm& c : taken) MPI_Comm_free(&c);
  expect_usable(team);
#else
  GTEST_SKIP() << "this MPI has more context ids than a test can take";
#endif
}

}  // namespace
}  // namespace tide_test
