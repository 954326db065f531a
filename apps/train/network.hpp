// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A multilayer perceptron whose weights exist one layer at a time.
#pragma once
#include <vector>

#include "weights.hpp"

namespace train {

/// Layers of weight [out x in] and bias [out].
Architecture perceptron(int64_t inputs, int64_t width, int depth, int64_t outputs);

class Network {
 public:
  Network(const std::vector<Layer>& layers, Activation activation, int64_t max_rows);
  /// Collective.  Begins a step.  x [rows x inputs]; returns the outputs, valid until the next
  /// call.
  float* forward(Weights& weights, const float* x, int64_t rows);
  /// Collective, after forward of the same rows: averages every layer's gradient into the pieces
  /// and finishes the step.  output_grad [rows x outputs] is the derivative of the loss.
  void backward(Weights& weights, const float* x, int64_t rows, const float* output_grad);
  int64_t max_rows() const { return max_rows_; }
  int64_t bytes() const;

 private:
  struct Hidden {
    std::vector<float> before, tanh, after;  // [rows x width]: input, inner tanh, result
  };
  struct Shape {
    int64_t out, in;
  };
  void activate(Hidden& hidden, int64_t elems) const;
  void derive(const Hidden& hidden, int64_t elems, float* grad) const;
  std::vector<Layer> layers_;
  std::vector<Shape> shapes_;
  Activation activation_;
  int64_t max_rows_;
  LayerBuffer grads_;
  std::vector<Hidden> hidden_;
  std::vector<float> outputs_, grad_, next_grad_;
};

}  // namespace train
