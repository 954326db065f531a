// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Initial values and AdamW, on the rows that a rank keeps.
#include <algorithm>
#include <cmath>

#include "random.hpp"
#include "weights.hpp"

namespace train {

void initialise(Weights& weights, uint64_t seed) {
  for (size_t tensor = 0; tensor < weights.pieces().size(); ++tensor) {
    Piece& piece = weights.pieces()[tensor];
    const double bound = piece.tensor->bound, centre = piece.tensor->centre;
    // Each element's value hangs on its place in the whole tensor, so no rank needs other rows.
    const uint64_t stream = mix(seed * 0x2545f4914f6cdd1dull + tensor + 1);
    for (int64_t e = 0; e < piece.own_elems(); ++e) {
      const uint64_t bits = mix(stream + uint64_t(piece.first_elem() + e) * 0x9e3779b97f4a7c15ull);
      piece.master[e] =
          bound == 0 ? float(centre) : float(centre + bound * (2 * unit_interval(bits) - 1));
    }
    std::fill_n(piece.grad, piece.own_elems(), 0.0f);
    std::fill_n(piece.moment1, piece.own_elems(), 0.0f);
    std::fill_n(piece.moment2, piece.own_elems(), 0.0f);
  }
}

void update(Weights& weights, const AdamW& adam, int64_t step, float factor) {
  const float beta1 = float(adam.beta1), beta2 = float(adam.beta2);
  // 1 - 0.999f is 5e-5 off, hence the differences in double
  const float gain1 = float(1 - adam.beta1), gain2 = float(1 - adam.beta2);
  const float rate = float(adam.lr / (1 - std::pow(adam.beta1, double(step))));
  const float correction2 = float(1 / (1 - std::pow(adam.beta2, double(step))));
  for (Piece& p : weights.pieces()) {
    const float keep = p.tensor->decays ? float(1 - adam.lr * adam.weight_decay) : 1.0f;
    for (int64_t e = 0; e < p.own_elems(); ++e) {
      const float g = factor * p.grad[e];
      p.moment1[e] = beta1 * p.moment1[e] + gain1 * g;
      p.moment2[e] = beta2 * p.moment2[e] + gain2 * g * g;
      const float root = std::sqrt(p.moment2[e] * correction2) + float(adam.epsilon);
      p.master[e] = keep * p.master[e] - rate * p.moment1[e] / root;
    }
  }
}

}  // namespace train
