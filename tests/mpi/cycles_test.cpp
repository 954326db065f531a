// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// V23: a communicator, a group, a call and all freed again, thousands of times: nothing may add up.
// Two ranks. TEST_TIDE_CYCLES sets the number (5,000 without it).
#include <cstdlib>
#include <optional>

#include "list.hpp"
#include "usage.hpp"

namespace tide_test {
namespace {

// The number of a fresh communicator's handle, counted from the lowest free one on.  MPICH counts
// otherwise, but has 2,046 communicators: there, 5,000 cycles show what is kept.
long next_context_id() {
#ifdef MPICH_VERSION
  return 0;
#else
  const Comm comm(dup(MPI_COMM_WORLD));
  return MPI_Comm_c2f(comm);
#endif
}

struct Held : Usage {
  size_t all_shm = entries("/dev/shm");
  long context_id = next_context_id();
};

void expect_nothing_added(const Held& settled, const Held& end, int cycles) {
  EXPECT_LT(end.resident, settled.resident + (1 << 20))
      << "resident bytes after " << cycles << " cycles";
  EXPECT_EQ(settled.descriptors, end.descriptors);
  EXPECT_EQ(settled.threads, end.threads);
  EXPECT_LE(end.maps, settled.maps + 8);
  EXPECT_EQ(settled.segments, end.segments) << "mappings of Tide's memory";
  EXPECT_EQ(settled.all_shm, end.all_shm) << "entries of /dev/shm";
  EXPECT_EQ(settled.context_id, end.context_id) << "communicators";
}

int cycles_asked() {
  const char* text = std::getenv("TEST_TIDE_CYCLES");
  return text ? std::atoi(text) : 5000;
}

void cycle(bool comm_first, Memory memory) {
  MPI_Comm comm = dup(MPI_COMM_WORLD);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const MPIX_Tide_param p = param(5, 3);
  ASSERT_EQ(MPI_SUCCESS, MPIX_Tide_group_create(comm, 1, &p, MPI_INFO_NULL, &group))
      << MPIX_Tide_error_message();
  uint16_t own_grad[15];
  float own_sum[9];
  void *grad = own_grad, *sum = own_sum;
  if (memory == Memory::tide) {
    TIDE_OK(MPIX_Tide_alloc(comm, sizeof own_grad, MPI_INFO_NULL, &grad));
    TIDE_OK(MPIX_Tide_alloc(comm, sizeof own_sum, MPI_INFO_NULL, &sum));
  }
  for (size_t i = 0; i < 15; ++i)
    store(MPIX_TIDE_BF16, static_cast<uint16_t*>(grad) + i, small_integers(world().rank, 0, i));
  TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(&grad), &sum, MPIX_TIDE_FP32, MPIX_TIDE_SUM,
                                   1.0, group));
  const float wanted = world().rank == 0
                           ? -27
                           : static_cast<float>(small_integers(0, 0, 9) + small_integers(1, 0, 9));
  ASSERT_EQ(wanted, *static_cast<float*>(sum));
  if (comm_first) MPI_Comm_free(&comm);
  TIDE_OK(MPIX_Tide_group_free(&group));
  if (memory == Memory::tide) {
    TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, grad));
    TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, sum));
  }
  if (!comm_first) MPI_Comm_free(&comm);
}

TEST(Cycles, NothingAddsUp) {
  ASSERT_EQ(2, world().size);
  const int cycles = cycles_asked();
  std::optional<Held> settled;
  for (int i = 0; i < cycles && !HasFatalFailure(); ++i) {
    if (i == 100) settled.emplace();
    cycle(i % 2, i % 4 == 3 ? Memory::tide : Memory::foreign);
  }
  sync(world());
  if (settled) expect_nothing_added(*settled, Held(), cycles);
}

// The communicator stays, with its workspace: only groups come and go, several alive at a time.
TEST(Cycles, GroupsOfOneCommunicator) {
  const int cycles = cycles_asked() / 5;
  const Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  std::optional<Held> settled;
  for (int i = 0; i < cycles && !HasFailure(); ++i) {
    if (i == 100) settled.emplace();
    List kept(team, {param(5, 3), param(1 + i % 9, 7)});
    check_reduce_scatter(List(team, {param(4, 2)}), {.out_dtype = MPIX_TIDE_FP32});
    check_allgather(kept, {.salt = static_cast<uint64_t>(i)});
  }
  sync(world());
  if (settled) expect_nothing_added(*settled, Held(), cycles);
}

}  // namespace
}  // namespace tide_test
