// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Requests: moves, their end, persistent ones; what they bring is compared.
#include <tide/tide.hpp>

#include "team.hpp"

namespace {

using namespace tide_test;

// A rank's row r holds 10 * r + what; a gather of 5 rows is complete when full says so.
struct Gather {
  tide::Group group{MPI_COMM_WORLD, {tide::param<float>(5, 3)}};
  std::vector<float> shard = std::vector<float>(group.extent(0, tide::What::shard).elems);
  std::vector<float> full = std::vector<float>(15);

  void fill(float what) {
    for (std::size_t i = 0; i < shard.size(); ++i)
      shard[i] = 10 * static_cast<float>(group.shard(0).first + static_cast<int>(i) / 3) + what;
    full.assign(full.size(), -1);
  }
  void expect(float what) const {
    for (std::size_t i = 0; i < full.size(); ++i)
      ASSERT_EQ(10 * static_cast<float>(i / 3) + what, full[i]) << i;
  }
  tide::Request start() { return group.iallgather({shard}, {full}); }
};

TEST(CxxRequests, NonblockingIsNullWhenComplete) {
  Gather g;
  g.fill(1);
  tide::Request request = g.start();
  EXPECT_TRUE(request);
  request.wait_inputs();
  EXPECT_TRUE(request.test_inputs());
  request.wait();
  EXPECT_FALSE(request);
  g.expect(1);
  g.fill(2);
  request = g.start();
  while (!request.test()) {
  }
  EXPECT_FALSE(request);
  g.expect(2);
}

TEST(CxxRequests, TheEndOfARequestWaits) {
  Gather g;
  g.fill(3);
  { const tide::Request request = g.start(); }
  g.expect(3);
  g.fill(4);
  EXPECT_THROW(
      {
        const tide::Request request = g.start();
        throw std::runtime_error("unwinding");
      },
      std::runtime_error);
  g.expect(4);
}

TEST(CxxRequests, MovesHandTheOperationOn) {
  Gather g, h;
  g.fill(5);
  h.fill(6);
  tide::Request a = g.start();
  tide::Request b = std::move(a);
  EXPECT_FALSE(a);  // NOLINT
  EXPECT_TRUE(b);
  tide::Request c = h.start();
  b = std::move(c);  // what b held has ended
  g.expect(5);
  EXPECT_FALSE(c);  // NOLINT
  b.wait();
  h.expect(6);
}

TEST(CxxRequests, ASelfMoveKeepsTheOperation) {
  Gather g;
  g.fill(7);
  tide::Request request = g.start();
  tide::Request& same = request;
  request = std::move(same);
  EXPECT_TRUE(request);
  request.wait();
  g.expect(7);
}

TEST(CxxRequests, PersistentStartAndWait) {
  Gather g;
  tide::Request gather = g.group.allgather_init({g.shard}, {g.full});
  const MPIX_Tide_request handle = gather.handle();
  for (int step = 0; step < 3; ++step) {
    g.fill(static_cast<float>(step));
    gather.start();
    EXPECT_THROW(gather.start(), tide::Error);  // it is active
    gather.wait();
    g.expect(static_cast<float>(step));
    EXPECT_EQ(handle, gather.handle());
  }
  g.fill(9);
  gather.start();
  gather = tide::Request();  // its end waits, and frees it
  g.expect(9);
}

TEST(CxxRequests, PersistentReductionChangesItsScale) {
  const tide::Group group(MPI_COMM_WORLD, {tide::param<double>(4)});
  const std::vector<double> grad(4, world().rank + 1.0);
  std::vector<double> sum(group.extent(0, tide::What::shard).elems, -1);
  const double all = world().size * (world().size + 1) / 2.0;
  tide::Request reduce = group.reduce_scatter_init({grad}, {sum}, tide::Op::sum);
  for (const double scale : {1.0, 0.5, 2.0}) {
    reduce.set(tide::Op::sum, scale);
    reduce.start();
    reduce.wait();
    for (const double s : sum) EXPECT_EQ(all * scale, s);
  }
}

TEST(CxxRequests, NonblockingReductionAndInPlace) {
  const tide::Group group(MPI_COMM_WORLD, {tide::param<float>(6)});
  const std::vector<float> grad(6, 2.0f);
  std::vector<float> mean(group.extent(0, tide::What::shard).elems, -1), full(6, -1);
  group.ireduce_scatter({grad}, {mean}, tide::Op::avg, 3.0).wait();
  const auto mine = group.shard(0);
  std::copy(mean.begin(), mean.end(), full.begin() + mine.first);
  group.iallgather(tide::in_place, {full}).wait();
  EXPECT_EQ(std::vector<float>(6, 6.0f), full);
  full.assign(6, -1);
  std::copy(mean.begin(), mean.end(), full.begin() + mine.first);
  tide::Request again = group.allgather_init(tide::in_place, {full});
  again.start();
  again.wait();
  EXPECT_EQ(std::vector<float>(6, 6.0f), full);
}

TEST(CxxRequests, ListsOfRequests) {
  Gather g[3];
  std::vector<tide::Request> all;
  for (Gather& one : g) {
    one.fill(1);
    all.push_back(one.start());
  }
  tide::wait_all(all);
  for (const Gather& one : g) one.expect(1);
  for (const tide::Request& request : all) EXPECT_FALSE(request);
  all.clear();
  for (Gather& one : g) {
    one.fill(2);
    all.push_back(one.group.allgather_init({one.shard}, {one.full}));
  }
  tide::start_all(all);
  while (!tide::test_all(all)) {
  }
  for (const Gather& one : g) one.expect(2);
  for (const tide::Request& request : all) EXPECT_TRUE(request);
}

TEST(CxxRequests, OutliveTheirGroup) {
  tide::Request request;
  std::vector<float> shard, full(15, -1);
  {
    Gather g;
    g.fill(8);
    shard = g.shard;
    request = g.group.iallgather({shard}, {full});
  }
  request.wait();
  for (std::size_t i = 0; i < full.size(); ++i)
    ASSERT_EQ(10 * static_cast<float>(i / 3) + 8, full[i]);
}

TEST(CxxRequests, AnMpiRequestNeedsAProgressThread) {
  Gather g;
  g.fill(1);
  tide::Request request = g.start();
  try {
    (void)request.mpi();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const tide::Error& error) {
    EXPECT_EQ(MPIX_TIDE_ERR_UNSUPPORTED, error.kind());
  }
  request.wait();
}

}  // namespace
