// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Parameters sharded over some ranks and replicated over others: a reduce-scatter over the shards,
// then MPI's own all-reduce over the replicas.
#include <cstring>

#include "list.hpp"

namespace tide_test {
namespace {

#define ONLY_ON(n) \
  if (world().size != (n)) GTEST_SKIP() << "for " << (n) << " ranks"

struct Grid {
  explicit Grid(int shard_size) {
    TIDE_OK(MPIX_Tide_comm_grid(MPI_COMM_WORLD, shard_size, &shard, &replica));
  }
  ~Grid() {
    MPI_Comm_free(&shard);
    MPI_Comm_free(&replica);
  }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  MPI_Comm shard = MPI_COMM_NULL, replica = MPI_COMM_NULL;
};

// `steps` reduce-scatters of (step + 1)(rank + 1), added up; then the sum over the replicas.
std::vector<float> reduce(const Grid& grid, int steps, double scale) {
  List list(team_of(grid.shard), {param(5, 3)});
  Pieces grads(list.team(), Memory::tide, list.grad_bytes()),
      sums(list.team(), Memory::tide, list.out_bytes(MPIX_TIDE_FP32));
  for (int step = 0; step < steps; ++step) {
    for (size_t i = 0; i < list.full_elems(0); ++i)
      store(MPIX_TIDE_BF16, static_cast<uint16_t*>(grads[0]) + i,
            (step + 1.0) * (world().rank + 1));
    const int op = MPIX_TIDE_SUM | (step ? MPIX_TIDE_ACCUMULATE : 0);
    TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.list()), sums.list(), MPIX_TIDE_FP32,
                                     op, scale, list.group()));
  }
  const int count = static_cast<int>(list.shard_elems(0));
  std::vector<float> result(static_cast<size_t>(count));
  if (count) std::memcpy(result.data(), sums[0], result.size() * sizeof(float));
  MPI_Allreduce(MPI_IN_PLACE, result.data(), count, MPI_FLOAT, MPI_SUM, grid.replica);
  return result;
}

uint32_t bits(float value) {
  uint32_t b = 0;
  std::memcpy(&b, &value, sizeof b);
  return b;
}

// V10: a scale is applied once, and means the same on a mesh of one and of two dimensions.
TEST(Replicas, V10ScaleMeansTheSameOnEveryMesh) {
  ONLY_ON(8);
  for (int shard_size : {8, 4}) {
    const Grid grid(shard_size);
    for (float v : reduce(grid, 1, 1.0 / 300)) {
      EXPECT_GE(bits(v), 0x3DF5C28Fu) << shard_size << " shards";  // 0.12, at most one ulp away
      EXPECT_LE(bits(v), 0x3DF5C290u) << shard_size << " shards";
    }
  }
}

// V14: every microbatch counts, and so does every replica, on a mesh without shards as well.
TEST(Replicas, V14MicrobatchesAndReplicasAllCount) {
  ONLY_ON(4);
  for (float v : reduce(Grid(2), 3, 1)) EXPECT_EQ(60.0F, v) << "2 x 2";
  for (float v : reduce(Grid(1), 1, 1)) EXPECT_EQ(10.0F, v) << "4 x 1";
}

}  // namespace
}  // namespace tide_test
