// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "network.hpp"

#include <algorithm>
#include <cmath>

#include "activation.hpp"
#include "blas.hpp"

namespace train {

Architecture perceptron(int64_t inputs, int64_t width, int depth, int64_t outputs) {
  Architecture result;
  int64_t in = inputs;
  for (int l = 0; l <= depth; ++l, in = width) {
    const int64_t out = l == depth ? outputs : width;
    result.layers.push_back(
        {"layer" + std::to_string(l),
         {{"weight", out, in, std::sqrt(3.0 / double(in)), 0, true}, {"bias", out, 1}}});
    result.forward.push_back(l);
  }
  return result;
}

Network::Network(const std::vector<Layer>& layers, Activation activation, int64_t max_rows)
    : layers_(layers), activation_(activation), max_rows_(max_rows), grads_(layers) {
  int64_t widest = 0;
  for (const Layer& layer : layers_) {
    shapes_.push_back({layer.tensors[0].rows, layer.tensors[0].row_elems});
    widest = std::max({widest, shapes_.back().out, shapes_.back().in});
  }
  hidden_.resize(layers_.size() - 1);
  for (size_t l = 0; l < hidden_.size(); ++l)
    for (auto* v : {&hidden_[l].before, &hidden_[l].tanh, &hidden_[l].after})
      v->resize(max_rows * shapes_[l].out);
  outputs_.resize(max_rows * shapes_.back().out);
  grad_.resize(max_rows * widest);
  next_grad_.resize(max_rows * widest);
}

int64_t Network::bytes() const {
  size_t floats = outputs_.size() + grad_.size() + next_grad_.size();
  for (const Hidden& h : hidden_) floats += h.before.size() + h.tanh.size() + h.after.size();
  return grads_.bytes() + int64_t(floats * sizeof(float));
}

void Network::activate(Hidden& hidden, int64_t elems) const {
  const float* z = hidden.before.data();
  float *t = hidden.tanh.data(), *a = hidden.after.data();
  switch (activation_) {
    case Activation::silu:
      for (int64_t e = 0; e < elems; ++e) {
        t[e] = quick_tanh(0.5f * z[e]);
        a[e] = z[e] * 0.5f * (1 + t[e]);
      }
      break;
    case Activation::gelu:
      for (int64_t e = 0; e < elems; ++e) {
        t[e] = quick_tanh(kGelu * (z[e] + kCubic * z[e] * z[e] * z[e]));
        a[e] = z[e] * 0.5f * (1 + t[e]);
      }
      break;
    case Activation::tanh:
      for (int64_t e = 0; e < elems; ++e) a[e] = t[e] = quick_tanh(z[e]);
      break;
  }
}

void Network::derive(const Hidden& hidden, int64_t elems, float* grad) const {
  const float *z = hidden.before.data(), *t = hidden.tanh.data();
  switch (activation_) {
    case Activation::silu:
      for (int64_t e = 0; e < elems; ++e) {
        const float s = 0.5f * (1 + t[e]);
        grad[e] *= s + z[e] * s * (1 - s);
      }
      break;
    case Activation::gelu:
      for (int64_t e = 0; e < elems; ++e) {
        const float slope = kGelu * (1 + 3 * kCubic * z[e] * z[e]);
        grad[e] *= 0.5f * (1 + t[e]) + 0.5f * z[e] * (1 - t[e] * t[e]) * slope;
      }
      break;
    case Activation::tanh:
      for (int64_t e = 0; e < elems; ++e) grad[e] *= 1 - t[e] * t[e];
      break;
  }
}

float* Network::forward(Weights& weights, const float* x, int64_t rows) {
  weights.begin();
  for (size_t l = 0; l < layers_.size(); ++l) {
    const auto [out, in] = shapes_[l];
    const bool last = l + 1 == layers_.size();
    const float* const* w = weights.forward(int(l));
    if (rows == 0) continue;  // this rank has no part in the batch, yet others gather
    float* z = last ? outputs_.data() : hidden_[l].before.data();
    multiply(rows, out, in, {x, in}, {w[0], in, CblasTrans}, z, out);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t o = 0; o < out; ++o) z[r * out + o] += w[1][o];
    if (last) break;
    activate(hidden_[l], rows * out);
    x = hidden_[l].after.data();
  }
  return outputs_.data();
}

void Network::backward(Weights& weights, const float* x, int64_t rows, const float* output_grad) {
  std::copy_n(output_grad, rows * shapes_.back().out, grad_.data());
  for (size_t l = layers_.size(); l-- > 0;) {
    const auto [out, in] = shapes_[l];
    const float* input = l == 0 ? x : hidden_[l - 1].after.data();
    // the data needs no gradient, so the first layer's weights are not needed again
    const float* const* w = weights.backward(int(l), l > 0);
    float* const* grads = grads_.of(layers_[l]);
    std::fill_n(grads[1], out, 0.0f);
    if (rows == 0)
      std::fill_n(grads[0], out * in, 0.0f);
    else
      multiply(out, in, rows, {grad_.data(), out, CblasTrans}, {input, in}, grads[0], in);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t o = 0; o < out; ++o) grads[1][o] += grad_[r * out + o];
    if (l > 0 && rows > 0)
      multiply(rows, in, out, {grad_.data(), out}, {w[0], in}, next_grad_.data(), in);
    weights.reduce(int(l), grads);
    if (l == 0) break;
    derive(hidden_[l - 1], rows * in, next_grad_.data());
    grad_.swap(next_grad_);
  }
  weights.finish(true);
}

}  // namespace train
