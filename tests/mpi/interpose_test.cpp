// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A tool defines a function of ours by itself and calls the PMPIX_ name, as MPI tools do.
#include "list.hpp"

namespace {
int gathers = 0, creates = 0;
}

extern "C" int MPIX_Tide_allgather(const void* const* shards, void* const params[],
                                   MPIX_Tide_group group) {
  ++gathers;
  return PMPIX_Tide_allgather(shards, params, group);
}

extern "C" int MPIX_Tide_group_create(MPI_Comm comm, int nparams, const MPIX_Tide_param params[],
                                      MPI_Info info, MPIX_Tide_group* group) {
  ++creates;
  return PMPIX_Tide_group_create(comm, nparams, params, info, group);
}

namespace tide_test {
namespace {

TEST(Interpose, ToolSeesEachCallOnce) {
  creates = gathers = 0;
  List list(world(), {param(9, 5), param(2, 3)});
  EXPECT_EQ(1, creates);
  check_allgather(list);
  check_allgather(list, {.in_place = InPlace::sentinel, .salt = 2});
  EXPECT_EQ(2, gathers);
  check_reduce_scatter(list);  // the library does not call its own public names
  EXPECT_EQ(2, gathers);
  EXPECT_EQ(1, creates);
}

}  // namespace
}  // namespace tide_test
