// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A user's program: reduces a gradient in its own memory.  Started by two processes.
#include <mpix_tide.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const MPIX_Tide_param param = {7, 3, 0, MPIX_TIDE_FP32, 0};
  MPIX_Tide_group group;
  MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &param, MPI_INFO_NULL, &group);
  MPI_Count first = 0, rows = 0;
  MPIX_Tide_group_shard(group, 0, rank, &first, &rows);
  std::vector<float> gradient(21), shard(static_cast<size_t>(rows) * 3 + 1, -1.0f);
  for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<float>(i + 1);
  void *in = gradient.data(), *out = shard.data();
  MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(&in), &out, 0, MPIX_TIDE_AVG, 1.0, group);
  int wrong = 0;
  for (MPI_Count i = 0; i < rows * 3; ++i)
    wrong += shard[static_cast<size_t>(i)] != static_cast<float>(first * 3 + i + 1);
  MPIX_Tide_group_free(&group);
  MPI_Finalize();
  std::printf("%d ranks, %d wrong\n", size, wrong);
  return wrong != 0 || size != 2;
}
