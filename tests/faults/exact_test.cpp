// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What the scripts in this folder start in their odd surroundings.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "list.hpp"
#include "shim.hpp"

namespace tide_test {
namespace {

const Failure no_mem{0, MPI_ERR_NO_MEM};

TEST(Exact, Small) {
  List list(world(), usual_list(MPIX_TIDE_BF16));
  check_allgather(list);
  check_reduce_scatter(list, {.out_dtype = MPIX_TIDE_FP32});
}

// V27: 32 MiB of bf16, more than the /dev/shm of a container.
TEST(Exact, LargerThanDevShm) {
  List list(world(), {param(4096, 4096)});
  check_allgather(list);
  check_reduce_scatter(list, {.out_dtype = MPIX_TIDE_FP32});
}

// A kernel without memfd_create: memory then does live in /dev/shm, and a lack of it is an error on
// all ranks that names it, never SIGBUS.
TEST(WithoutMemfd, FullDevShmIsTheSameErrorOnAll) {
  arm(Site::memfd_create, 1, ENOSYS, 1 << 30);
  for (int i = 0; i < 3; ++i) {
    void* base = nullptr;
    const int code = MPIX_Tide_alloc(world().comm, 32 << 20, MPI_INFO_NULL, &base);
    EXPECT_EQ(nullptr, base);
    expect_failure_on_all(world(), code, {no_mem}, {"/dev/shm"});
    expect_usable(world());  // what was taken before the lack showed is given back
  }
  EXPECT_LT(0, disarm());
}

// Calls without end; the file TEST_TIDE_MARK is made before call 50.
TEST(Endless, Calls) {
  const char* mark = std::getenv("TEST_TIDE_MARK");
  if (!mark) GTEST_SKIP() << "TEST_TIDE_MARK is not set";
  List list(world(), {param(4096, 65), param(5, 3)});
  Pieces grads(world(), Memory::by_param, list.grad_bytes());
  Pieces shards(world(), Memory::tide, list.out_bytes(MPIX_TIDE_FP32));
  write_grads(list, grads.list(), {});
  for (int call = 1;; ++call) {
    if (call == 50 && world().rank == 0) std::fclose(std::fopen(mark, "w"));
    TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.list()), shards.list(), MPIX_TIDE_FP32,
                                     MPIX_TIDE_SUM, 1, list.group()));
  }
}

}  // namespace
}  // namespace tide_test
