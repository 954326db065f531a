// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Replicas, norms, whole parameters, checkpoints.  Any ranks.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <numeric>
#include <tide/tide.hpp>

#include "team.hpp"

namespace tide_test {
namespace {

using tide::Op;

class CxxSharding : public testing::Test {
 protected:
  CxxSharding() {
    grid_ = tide::grid_comms(MPI_COMM_WORLD, 1);
    MPI_Comm_set_errhandler(grid_.replica, MPI_ERRORS_RETURN);
  }
  ~CxxSharding() override {
    MPI_Comm_free(&grid_.shard);
    MPI_Comm_free(&grid_.replica);
  }
  static std::vector<float> rows(const tide::Group& group) {
    return std::vector<float>(group.extent(0, tide::What::shard).elems);
  }
  tide::Grid grid_;
};

TEST_F(CxxSharding, ReplicasAndNorms) {
  const tide::Group group(grid_.shard, {tide::param<float>(3, 2)});
  std::vector<float> x(6, static_cast<float>(world().rank));
  const tide::Outputs shards{x};
  tide::replica_allreduce(group, shards, grid_.replica, Op::avg, 2.0);
  const auto mean = static_cast<float>(world().size - 1);
  EXPECT_EQ(std::vector<float>(6, mean), x);
  tide::ireplica_allreduce(group, shards, grid_.replica, Op::sum).wait();
  EXPECT_EQ(std::vector<float>(6, mean * static_cast<float>(world().size)), x);
  x = {3, 0, 0, 4, 0, 0};
  EXPECT_EQ(5.0, tide::norm2(grid_.shard, {{group, shards}}));
  int stream = 0;
  try {
    tide::replica_allreduce_enqueue(group, shards, grid_.replica, Op::sum, 1, tide::Dtype::own,
                                    &stream);
    ADD_FAILURE();
  } catch (const tide::Error& e) {
    EXPECT_EQ(MPIX_TIDE_ERR_UNSUPPORTED, e.kind());
  }
}

TEST_F(CxxSharding, AWrongListIsAnErrorOnAllRanks) {
  const tide::Group group(grid_.shard, {tide::param<float>(3, 2)});
  std::vector<float> good(6), shorter(5);
  std::vector<double> doubles(6);
  const bool last = world().rank == world().size - 1;
  const auto refused = [&](auto call, const std::string& word) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const tide::Error& e) {
      EXPECT_EQ(MPI_ERR_BUFFER, e.error_class()) << e.what();
      const bool found = std::string(e.what()).find(word) != std::string::npos;
      EXPECT_TRUE(found || !last) << e.what();
    }
  };
  const tide::Outputs fine{good}, wrong{shorter}, other{doubles};
  const tide::Outputs& mine = last ? wrong : fine;
  refused([&] { tide::replica_allreduce(group, mine, grid_.replica, Op::sum); }, "5 elements");
  refused(
      [&] { tide::ireplica_allreduce(group, last ? other : fine, grid_.replica, Op::sum).wait(); },
      "fp64");
  const tide::Group whole(MPI_COMM_WORLD, {tide::param<float>(6 * world().size)});
  refused([&] { (void)tide::norm2(MPI_COMM_WORLD, {{whole, mine}}); }, "5 elements");
  refused([&] { tide::scatter(whole, world().size - 1, tide::Inputs{doubles}, fine); }, "params");
}

TEST_F(CxxSharding, WholeParametersAndCheckpoints) {
  char name[] = "/tmp/tide-cxx-XXXXXX";
  if (world().rank == 0 && !mkdtemp(name)) ADD_FAILURE() << name;
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  tide::Group group(MPI_COMM_WORLD, {tide::param<tide::bf16, float>(7, 3)});
  group.set_names({"w"});
  const int root = world().size - 1;
  std::vector<float> all(21), back(21), mine = rows(group), again = rows(group);
  std::iota(all.begin(), all.end(), 1.0F);
  const bool here = world().rank == root;
  tide::scatter(group, root, here ? tide::Inputs{all} : tide::Inputs{}, tide::Outputs{mine});
  const tide::Outputs shards{mine}, others{again};
  const std::string path = std::string(name) + "/c";
  tide::save(MPI_COMM_WORLD, path, {{"", group, shards}, {"adam.m", group, shards}},
             "{\"step\":\"" + std::string(100000, '7') + "\"}");
  const std::string metadata = tide::load(MPI_COMM_WORLD, path, {{"adam.m", group, others}});
  EXPECT_EQ(100011u, metadata.size()) << "longer than what the first call has room for";
  EXPECT_EQ(mine, again);
  tide::gather(group, root, tide::Inputs{again}, here ? tide::Outputs{back} : tide::Outputs{});
  EXPECT_EQ(here ? all : std::vector<float>(21), back);
  try {
    tide::load(MPI_COMM_WORLD, path, {{"adam.v", group, others}});
    ADD_FAILURE();
  } catch (const tide::Error& e) {
    EXPECT_EQ(MPI_ERR_IO, e.error_class());
    EXPECT_NE(std::string::npos, std::string(e.what()).find("adam.v.w"));
  }
  sync(world());
  if (world().rank == 0) std::filesystem::remove_all(name);
}

}  // namespace
}  // namespace tide_test
