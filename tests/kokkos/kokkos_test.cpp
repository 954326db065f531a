// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Kokkos views as parameters, shards and gradients.
#include <string>
#include <tide/kokkos.hpp>

#include "team.hpp"

namespace {

using namespace tide_test;
using tide::What;
template <class Data, class Layout>
using View = Kokkos::View<Data, Layout, Kokkos::HostSpace>;
using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;

class Environment : public testing::Environment {
  void SetUp() override { Kokkos::initialize(); }
  void TearDown() override { Kokkos::finalize(); }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new Environment);

// Gathers row r as 100 * r + place in its row, and compares by what the view's indices say.
template <class V, class At>
void expect_gathered(const tide::Group& group, const V& full, std::size_t row_elems, At at) {
  const tide::Rows mine = group.shard(0);
  std::vector<float> shard;
  for (MPI_Count r = mine.first; r < mine.first + mine.count; ++r)
    for (std::size_t i = 0; i < row_elems; ++i)
      shard.push_back(static_cast<float>(100 * r) + static_cast<float>(i));
  Kokkos::deep_copy(full, -1.0f);
  group.allgather({shard}, tide::outputs(full));
  for (std::size_t r = 0; r < static_cast<std::size_t>(group.params()[0].rows); ++r)
    for (std::size_t i = 0; i < row_elems; ++i)
      ASSERT_EQ(static_cast<float>(100 * r + i), at(r, i)) << r << " " << i;
}

TEST(Kokkos, RightShardsTheFirstDimension) {
  const View<float*, Right> a("a", 5);
  const View<float**, Right> b("b", 5, 3);
  const View<float***, Right> c("c", 5, 3, 2);
  const View<float****, Right> d("d", 5, 3, 2, 2);
  const auto group = [](const auto& view) {
    return tide::Group(MPI_COMM_WORLD, {tide::param_of(view)});
  };
  EXPECT_EQ(12, tide::param_of(d).row_elems);
  expect_gathered(group(a), a, 1, [&](auto r, auto) { return a(r); });
  expect_gathered(group(b), b, 3, [&](auto r, auto i) { return b(r, i); });
  expect_gathered(group(c), c, 6, [&](auto r, auto i) { return c(r, i / 2, i % 2); });
  expect_gathered(group(d), d, 12, [&](auto r, auto i) { return d(r, i / 4, i / 2 % 2, i % 2); });
}

TEST(Kokkos, LeftShardsTheLastDimension) {
  const View<float*, Left> a("a", 5);
  const View<float**, Left> b("b", 3, 5);
  const View<float***, Left> c("c", 2, 3, 5);
  const View<float****, Left> d("d", 2, 2, 3, 5);
  const auto group = [](const auto& view) {
    return tide::Group(MPI_COMM_WORLD, {tide::param_of(view)});
  };
  EXPECT_EQ(5, tide::param_of(d).rows);
  EXPECT_EQ(12, tide::param_of(d).row_elems);
  expect_gathered(group(a), a, 1, [&](auto r, auto) { return a(r); });
  expect_gathered(group(b), b, 3, [&](auto r, auto i) { return b(i, r); });
  expect_gathered(group(c), c, 6, [&](auto r, auto i) { return c(i % 2, i / 2, r); });
  expect_gathered(group(d), d, 12, [&](auto r, auto i) { return d(i % 2, i / 2 % 2, i / 4, r); });
}

TEST(Kokkos, TypesOfShardAndGradient) {
  const View<tide::bf16**, Right> w("w", 4, 2);
  const tide::Param p = tide::param_of<float>(w, 2), q = tide::param_of<float, tide::Frozen>(w);
  EXPECT_EQ(MPIX_TIDE_BF16, p.dtype);
  EXPECT_EQ(2, p.block_rows);
  EXPECT_EQ(MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16), p.types);
  EXPECT_EQ(MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_NOGRAD), q.types);
  const View<const double**, Left> constant = View<double**, Left>("constant", 2, 6);
  EXPECT_EQ(MPIX_TIDE_FP64, tide::param_of(constant).dtype);
  EXPECT_EQ(6, tide::param_of(constant).rows);
}

template <class V>
void expect_refused(const V& view) {
  try {
    (void)tide::inputs(view);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const tide::Error& error) {
    EXPECT_EQ(MPI_ERR_BUFFER, error.error_class());
    EXPECT_NE(std::string::npos, std::string(error.what()).find("\"w\" is not contiguous"))
        << error.what();
  }
}

// That LayoutStride does not compile, and with which words, tests kokkos.strided.
TEST(Kokkos, ViewsWithGapsAreRefused) {
  const View<float**, Left> left("w", 4, 6);
  const View<float**, Right> right("w", 4, 6);
  const auto some = std::make_pair(std::size_t{1}, std::size_t{3});
  expect_refused(View<float**, Left>(Kokkos::subview(left, some, Kokkos::ALL)));  // 2 of 4 rows
  const auto rows = Kokkos::subview(right, some, Kokkos::ALL);                    // whole rows
  const View<float**, Right> whole = rows;
  ASSERT_EQ(12u, tide::inputs(whole).extents()[0].elems);
  EXPECT_EQ(&right(1, 0), tide::inputs(whole)[0]);
  EXPECT_EQ(0u, tide::inputs(View<float**, Left>("w", 0, 6)).extents()[0].elems);
}

TEST(Kokkos, ViewsOfTideMemory) {
  const tide::Group group(MPI_COMM_WORLD, {tide::param<float>(5, 6), tide::param<double>(3)});
  const auto full = group.alloc(What::full);
  const auto b = tide::view<float**>(full, 0);
  const auto right = tide::view<float***>(full, 0, 3, 2);
  const auto left = tide::view<float***, Left>(full, 0, 2, 3);
  const auto flat = tide::view<double*>(full, 1);
  static_assert(decltype(b)::traits::memory_traits::is_unmanaged && decltype(right)::rank == 3);
  EXPECT_EQ(5u, b.extent(0));
  EXPECT_EQ(6u, b.extent(1));
  EXPECT_EQ(3u, right.extent(1));
  EXPECT_EQ(2u, left.extent(0));
  EXPECT_EQ(3u, left.extent(1));
  EXPECT_EQ(5u, left.extent(2));
  EXPECT_EQ(3u, flat.extent(0));
  b(4, 5) = 7;  // row 4, element 5 of it
  EXPECT_EQ(7, right(4, 2, 1));
  EXPECT_EQ(7, left(1, 2, 4));
  EXPECT_EQ(full.piece<float>(0).data(), b.data());
  EXPECT_THROW(tide::view<float***>(full, 0, 3, 3), tide::Error);
  EXPECT_THROW(tide::view<float*>(full, 0), tide::Error);    // its rows have 6 elements
  EXPECT_THROW(tide::view<double**>(full, 0), tide::Error);  // fp32
}

TEST(Kokkos, CollectivesAfterAnExecutionSpace) {
  const tide::Group group(MPI_COMM_WORLD, {tide::param<float>(6, 2)});
  const auto grad = group.alloc(What::grad), sum = group.alloc(What::shard);
  const auto g = tide::view<float**>(grad, 0), s = tide::view<float**>(sum, 0);
  const Kokkos::DefaultHostExecutionSpace space;
  Kokkos::parallel_for(Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(space, 0, 6),
                       [=](int r) { g(r, 0) = g(r, 1) = static_cast<float>(r); });
  tide::reduce_scatter(space, group, tide::inputs(g), tide::outputs(s), tide::Op::avg, 2.0);
  const View<float**, Right> full("full", 6, 2);
  tide::allgather(space, group, tide::inputs(s), tide::outputs(full));
  for (int r = 0; r < 6; ++r) EXPECT_EQ(2 * r, full(r, 1));
}

struct Device {  // an execution space with streams
  void* stream;
};

}  // namespace

template <>
struct tide::StreamOf<Device> {
  static constexpr bool exists = true;
  static void* of(const Device& device) { return device.stream; }
};

namespace {

TEST(Kokkos, AnExecutionSpaceWithAStreamEnqueues) {
  const tide::Group group(MPI_COMM_WORLD, {tide::param<float>(6)});
  const auto full = group.alloc(What::full), shard = group.alloc(What::shard);
  try {
    tide::allgather(Device{nullptr}, group, shard, full);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const tide::Error& error) {
    EXPECT_EQ(MPIX_TIDE_ERR_UNSUPPORTED, error.kind());
  }
}

}  // namespace
