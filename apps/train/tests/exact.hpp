// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>

#include "weights.hpp"

namespace train {

// Keeps fp32 weights unrounded, so that small differences can be taken.
class Exact : public Weights {
 public:
  explicit Exact(const Architecture& architecture)
      : Weights(MPI_COMM_SELF, MPI_COMM_SELF, architecture, "") {
    initialise(*this, 7);
  }

 private:
  void load(int layer, bool, float* const* values) override {
    for (size_t p = 0; values && p < layers()[layer].tensors.size(); ++p)
      std::copy_n(pieces_of(layer)[p].master, pieces_of(layer)[p].own_elems(), values[p]);
  }
  void take(int layer, const float* const* grads, bool first, bool) override {
    for (size_t p = 0; p < layers()[layer].tensors.size(); ++p)
      for (int64_t e = 0; e < pieces_of(layer)[p].own_elems(); ++e)
        pieces_of(layer)[p].grad[e] = (first ? 0 : pieces_of(layer)[p].grad[e]) + grads[p][e];
  }
};

}  // namespace train
