// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// V23: a communicator, a group, a call and all freed again, thousands of times: nothing may add up.
// Two ranks. TEST_TIDE_CYCLES sets the number (5,000 without it).
#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "list.hpp"

namespace tide_test {
namespace {

size_t resident_bytes() {
  long pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<size_t>(pages) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

size_t entries(const char* path) {
  size_t n = 0;
  if (DIR* dir = opendir(path)) {
    while (readdir(dir)) ++n;
    closedir(dir);
  }
  return n;
}

size_t lines(const char* path) {
  size_t n = 0;
  if (FILE* file = std::fopen(path, "r")) {
    for (int c; (c = std::fgetc(file)) != EOF;) n += c == '\n';
    std::fclose(file);
  }
  return n;
}

struct Usage {
  size_t resident = resident_bytes(), descriptors = entries("/proc/self/fd"),
         maps = lines("/proc/self/maps"), shm = entries("/dev/shm"),
         threads = entries("/proc/self/task");
};

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
  const char* text = std::getenv("TEST_TIDE_CYCLES");
  const int cycles = text ? std::atoi(text) : 5000;
  Usage settled;
  for (int i = 0; i < cycles && !HasFatalFailure(); ++i) {
    if (i == 100) {
      sync(world());
      settled = Usage();
    }
    cycle(i % 2, i % 4 == 3 ? Memory::tide : Memory::foreign);
  }
  sync(world());
  const Usage end;
  EXPECT_LT(end.resident, settled.resident + (1 << 20))
      << "resident bytes after " << cycles << " cycles";
  EXPECT_EQ(settled.descriptors, end.descriptors);
  EXPECT_EQ(settled.threads, end.threads);
  EXPECT_LE(end.maps, settled.maps + 8);
  EXPECT_EQ(settled.shm, end.shm) << "entries of /dev/shm";
}

}  // namespace
}  // namespace tide_test
