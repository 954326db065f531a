// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The transformer's gradients, against differences of its loss.
#include "transformer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "exact.hpp"
#include "random.hpp"

namespace train {
namespace {

constexpr TransformerShape kShape{11, 5, 8, 2, 2};
constexpr int64_t kSequences = 3;

struct Small {
  Exact weights{transformer(kShape)};
  Transformer model{kShape, kSequences};
  std::vector<uint8_t> text;
  Small() {
    uint64_t random = 3;
    for (int n = 0; n < kSequences * (kShape.context + 1); ++n)
      text.push_back(uint8_t(next_random(random) % kShape.tokens));
    // away from the initial values: biases, gains and attention that tell
    for (Piece& piece : weights.pieces())
      for (int64_t e = 0; e < piece.own_elems(); ++e)
        piece.master[e] += float(0.4 * (unit_interval(next_random(random)) - 0.5));
  }
  double loss(int64_t sequences = kSequences) {
    const Loss loss = model.forward(weights, text.data(), sequences);
    return loss.sum;
  }
};

TEST(Transformer, GradientMatchesDifferences) {
  Small small;
  small.loss();
  const float scale = 0.5f;
  small.model.backward(small.weights, small.text.data(), kSequences, scale);
  const float step = 1e-2f;
  double largest = 0;
  for (const Piece& piece : small.weights.pieces())
    for (int64_t e = 0; e<piece.own_elems(); e += piece.own_elems()> 50 ? 3 : 1) {
      const float kept = piece.master[e];
      const auto at = [&](float distance) {
        piece.master[e] = kept + distance;
        return small.loss();
      };
      // of fourth order: normalised small values bend much
      const double slope =
          (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step);
      piece.master[e] = kept;
      const double expected = scale * slope;
      largest = std::max(largest, std::abs(expected));
      EXPECT_NEAR(piece.grad[e], expected, 2e-3 + 2e-3 * std::abs(expected))
          << piece.tensor->name << " element " << e;
    }
  EXPECT_GT(largest, 0.5);
}

TEST(Transformer, SeesNoLaterToken) {
  Small small;
  small.loss();
  const std::vector<float> before = small.model.derivative();
  const int64_t changed = 3;  // as an input; it is told at the position before
  small.text[changed] = uint8_t((small.text[changed] + 1) % kShape.tokens);
  small.loss();
  const auto differ = [&](int64_t position) {
    const int64_t first = position * kShape.tokens;
    return !std::equal(before.begin() + first, before.begin() + first + kShape.tokens,
                       small.model.derivative().begin() + first);
  };
  for (int64_t position = 0; position < kSequences * kShape.context; ++position)
    EXPECT_EQ(differ(position), position >= changed - 1 && position < kShape.context) << position;
}

TEST(Transformer, NoSequenceLeavesZeroGradients) {
  Small small;
  EXPECT_EQ(small.loss(0), 0);
  small.model.backward(small.weights, small.text.data(), 0, 1);
  for (const Piece& piece : small.weights.pieces())
    for (int64_t e = 0; e < piece.own_elems(); ++e) EXPECT_EQ(piece.grad[e], 0);
}

}  // namespace
}  // namespace train
