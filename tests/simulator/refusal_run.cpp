// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>

#include "core/memory_file.hpp"
#include "run.hpp"
#include "system_calls.hpp"
#include "world.hpp"

namespace simulator {

using namespace tide_test;

namespace {

// All ranks fail alike or none does; tells which.
bool works_on_all(int code, const char* what) {
  int kind = -1, error_class = -1;
  MPIX_Tide_error_kind(code, &kind);
  MPI_Error_class(code, &error_class);
  if (code != MPI_SUCCESS) {
    EXPECT_TRUE(kind == 0 && error_class == MPI_ERR_NO_MEM)
        << what << ": kind " << kind << ", class " << error_class << ": "
        << MPIX_Tide_error_message();
  }
  int mine = code != MPI_SUCCESS, least = 0, most = 0;
  MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(least, most) << what << " failed on some ranks only";
  return most == 0;
}

void attempt(const std::vector<MPIX_Tide_param>& list) {
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  schedule()->doing("group_create");
  const int n = static_cast<int>(list.size());
  const int code = MPIX_Tide_group_create(MPI_COMM_WORLD, n, list.data(), MPI_INFO_NULL, &group);
  if (works_on_all(code, "group_create")) TIDE_OK(MPIX_Tide_group_free(&group));
  schedule()->doing("alloc");
  void* base = nullptr;
  if (works_on_all(MPIX_Tide_alloc(MPI_COMM_WORLD, 5000, MPI_INFO_NULL, &base), "alloc"))
    TIDE_OK(MPIX_Tide_free(MPI_COMM_WORLD, base));
}

}  // namespace

Outcome run_refusal(uint64_t seed, const Mode& mode) {
  static constexpr Call calls[] = {Call::memfd_create, Call::mmap, Call::posix_fallocate};
  const int ranks = 2 + static_cast<int>(mix(seed, 1) % 6);
  Case shape;
  shape.nodes = random_nodes(mix(seed, 2), ranks);
  const std::vector<MPIX_Tide_param> list = {param(23, 3), param(5, 1), param(64, 7)};
  tide::memfd_absent();  // asked once a process
  set_refusal({calls[mix(seed, 3) % 3],
               static_cast<int>(mix(seed, 4) % static_cast<uint64_t>(ranks)),
               1 + static_cast<int>(mix(seed, 5) % 12)});
  Outcome outcome = run_ranks(shape.fake_nodes(), ranks, mode, [&](int) {
    attempt(list);
    attempt(list);
    schedule()->doing("a second life");
    Team team;
    team.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(team.comm, &team.rank);
    MPI_Comm_size(team.comm, &team.size);
    team.members.resize(1);  // the sums are exact in any order
    for (int r = 0; r < team.size; r++) team.members[0].push_back(r);
    set_refusal({});
    expect_usable(team);
  });
  set_refusal({});
  return outcome;
}

}  // namespace simulator
