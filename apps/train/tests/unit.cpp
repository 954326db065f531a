// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What both modes share, and a comparison of the two could therefore not find wrong.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <numbers>

#include "bf16.hpp"
#include "blas.hpp"
#include "exact.hpp"
#include "network.hpp"
#include "samples.hpp"
#include "weights.hpp"

namespace train {
namespace {

class Gradient : public ::testing::TestWithParam<Activation> {};

// The derivative of sum(outputs * seed) by each of some weights, against differences.
TEST_P(Gradient, MatchesDifferences) {
  Exact weights(perceptron(3, 6, 2, 2));
  Network network(weights.layers(), GetParam(), 4);
  const std::vector<float> x = {.3f, -.7f, 1.1f, -.2f, .9f, .4f, 0.f, .5f, -1.f, .8f, .1f, -.6f};
  const std::vector<float> seed = {1.f, -.5f, .25f, 2.f, -1.f, .75f, .5f, 1.5f};
  const auto value = [&] {
    const float* out = network.forward(weights, x.data(), 4);
    double sum = 0;
    for (size_t n = 0; n < seed.size(); ++n) sum += double(out[n]) * seed[n];
    return sum;
  };
  value();
  network.backward(weights, x.data(), 4, seed.data());
  const float step = 1e-2f;
  for (const Piece& piece : weights.pieces())
    for (int64_t e = 0; e < piece.own_elems(); e += 2) {
      const float kept = piece.master[e];
      piece.master[e] = kept + step;
      const double above = value();
      piece.master[e] = kept - step;
      const double below = value();
      piece.master[e] = kept;
      EXPECT_NEAR(piece.grad[e], (above - below) / (2 * step), 2e-3);
    }
}
INSTANTIATE_TEST_SUITE_P(All, Gradient,
                         ::testing::Values(Activation::silu, Activation::gelu, Activation::tanh));

TEST(Network, TanhIsAccurate) {
  Exact weights(perceptron(1, 1, 1, 1));
  weights.pieces()[0].master[0] = weights.pieces()[2].master[0] = 1;
  Network network(weights.layers(), Activation::tanh, 1);
  for (float x = -12; x <= 12; x += 0.37f)
    EXPECT_NEAR(*network.forward(weights, &x, 1), std::tanh(x), 1e-6) << x;
}

TEST(AdamW, FirstStepsAsDefined) {
  Exact weights(perceptron(1, 1, 0, 1));
  Piece &w = weights.pieces()[0], &b = weights.pieces()[1];
  w.master[0] = b.master[0] = 2;
  w.grad[0] = b.grad[0] = 0.5f;
  update(weights, {0.1, 0.01}, 1);
  EXPECT_FLOAT_EQ(w.master[0], 2 * (1 - 0.1f * 0.01f) - 0.1f);  // decayed
  EXPECT_FLOAT_EQ(b.master[0], 2 - 0.1f);                       // biases are not
  w.grad[0] = -1;
  const float before = w.master[0];
  update(weights, {0.1, 0}, 2);
  const double m = (0.9 * 0.05 - 0.1) / (1 - 0.81), v = (0.999 * 0.00025 + 0.001) / (1 - 0.998001);
  EXPECT_NEAR(w.master[0], before - 0.1 * m / std::sqrt(v), 1e-6);
}

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(from_bf16(to_bf16(1.0f + 0x1p-8f)), 1.0f);                // a tie, down to even
  EXPECT_EQ(from_bf16(to_bf16(1.0f + 3 * 0x1p-8f)), 1.0f + 0x1p-6f);  // a tie, up to even
  EXPECT_EQ(from_bf16(to_bf16(1.0f + 0x1p-8f + 0x1p-20f)), 1.0f + 0x1p-7f);
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::nanf("")))));
}

Grid small_grid() {
  Grid grid;
  for (int i = 0; i < 20; ++i) grid.lon.push_back(18 * i);
  for (int j = 0; j < 10; ++j) grid.lat.push_back(-81 + 18 * j);
  grid.year_fraction = {0, 0.25, 0.5, 0.75};
  grid.fields = {{"A", ""}, {"B", ""}};
  for (int64_t cell = 0; cell < grid.cells(); ++cell) {
    grid.values.push_back(cell % 3 == 0 ? NAN : float(100 + cell % 7));
    grid.values.push_back(cell % 6 == 0 ? NAN : float(cell % 5));
  }
  return grid;
}

TEST(Samples, SplitsPlacesAndNormalises) {
  const Samples samples(small_grid(), 0.2, 2);
  const int64_t places = 200;
  std::vector<int> side(places);
  for (int64_t cell : samples.training()) side[cell % places] |= 1;
  for (int64_t cell : samples.validation()) side[cell % places] |= 2;
  for (int s : side) EXPECT_NE(s, 3);  // a place is on one side with all its times
  EXPECT_EQ(samples.training().size() + samples.validation().size(), 800u - 134u);
  EXPECT_NEAR(double(samples.validation().size()) / 666, 0.2, 0.08);
  double sums[2] = {}, squares[2] = {}, counts[2] = {};
  for (int64_t cell : samples.training()) {
    float x[14], y[2];
    ASSERT_EQ(samples.inputs(), 14);
    samples.assemble(&cell, 1, x, y);
    for (int f = 0; f < 2; ++f)
      if (!std::isnan(y[f])) sums[f] += y[f], squares[f] += y[f] * y[f], counts[f] += 1;
  }
  for (int f = 0; f < 2; ++f) {
    EXPECT_NEAR(sums[f] / counts[f], 0, 1e-5);
    EXPECT_NEAR(squares[f] / counts[f], 1, 1e-5);
  }
}

TEST(Samples, InputsArePeriodic) {
  const Samples samples(small_grid(), 0.2, 2);
  const int64_t cell = 1 * 200 + 3 * 20 + 4;  // time 1, lat -27, lon 72
  float x[14];
  samples.assemble(&cell, 1, x, nullptr);
  const double lon = 72 * std::numbers::pi / 180, lat = -27 * std::numbers::pi / 180;
  EXPECT_NEAR(x[0], std::sin(lon), 1e-6);
  EXPECT_NEAR(x[3], std::cos(2 * lon), 1e-6);
  EXPECT_NEAR(x[4], std::sin(lat), 1e-6);
  EXPECT_NEAR(x[8], 1, 1e-6);   // sin of a quarter of a year
  EXPECT_NEAR(x[10], 0, 1e-6);  // and of twice that
}

}  // namespace
}  // namespace train

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  train::use_one_blas_thread();
  const int result = RUN_ALL_TESTS();
  MPI_Finalize();
  return result;
}
