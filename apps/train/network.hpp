// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A multilayer perceptron whose weights exist one layer at a time.
#pragma once
#include <vector>

#include "weights.hpp"

namespace train {

class Network {
 public:
  Network(std::vector<LayerShape> layers, Activation activation, int64_t max_rows);
  /// Collective.  x [rows x inputs]; returns the outputs, valid until the next call.
  float* forward(Weights& weights, const float* x, int64_t rows);
  /// Collective, after forward of the same rows: reduces every layer's gradient into the pieces.
  /// output_grad [rows x outputs] is the derivative of the loss.
  void backward(Weights& weights, const float* x, int64_t rows, const float* output_grad);
  int64_t max_rows() const { return max_rows_; }

 private:
  struct Hidden {
    std::vector<float> before, tanh, after;  // [rows x width]: input, inner tanh, result
  };
  void activate(Hidden& hidden, int64_t elems) const;
  void derive(const Hidden& hidden, int64_t elems, float* grad) const;
  std::vector<LayerShape> layers_;
  Activation activation_;
  int64_t max_rows_;
  std::vector<Hidden> hidden_;
  std::vector<float> weight_, bias_, weight_grad_, bias_grad_;  // of the layer at work
  std::vector<float> outputs_, grad_, next_grad_;
};

void use_one_blas_thread();

}  // namespace train
