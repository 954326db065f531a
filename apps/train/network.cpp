// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "network.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstdlib>

// Present in OpenBLAS only.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace train {
namespace {

// Padé-like approximation, accurate to about 1e-7: unlike std::tanh it is vectorised.
inline float quick_tanh(float x) {
  x = std::min(std::max(x, -7.9f), 7.9f);
  const float s = x * x;
  float p = -2.76076847742355e-16f;
  p = p * s + 2.00018790482477e-13f;
  p = p * s + -8.60467152213735e-11f;
  p = p * s + 5.12229709037114e-08f;
  p = p * s + 1.48572235717979e-05f;
  p = p * s + 6.37261928875436e-04f;
  p = p * s + 4.89352455891786e-03f;
  float q = 1.19825839466702e-06f;
  q = q * s + 1.18534705686654e-04f;
  q = q * s + 2.26843463243900e-03f;
  q = q * s + 4.89352518554385e-03f;
  return x * p / q;
}

constexpr float kGelu = 0.7978845608f, kCubic = 0.044715f;

void multiply(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int64_t m, int64_t n, int64_t k,
              const float* a, const float* b, float* c) {
  const int lda = int(ta == CblasNoTrans ? k : m), ldb = int(tb == CblasNoTrans ? n : k);
  cblas_sgemm(CblasRowMajor, ta, tb, int(m), int(n), int(k), 1, a, lda, b, ldb, 0, c, int(n));
}

}  // namespace

void use_one_blas_thread() {
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"})
    setenv(name, "1", 1);
  if (openblas_set_num_threads) openblas_set_num_threads(1);
}

Network::Network(std::vector<LayerShape> layers, Activation activation, int64_t max_rows)
    : layers_(std::move(layers)), activation_(activation), max_rows_(max_rows) {
  int64_t weight = 0, widest = 0;
  for (const LayerShape& shape : layers_) {
    weight = std::max(weight, shape.weight_elems());
    widest = std::max({widest, shape.out, shape.in});
  }
  hidden_.resize(layers_.size() - 1);
  for (size_t l = 0; l < hidden_.size(); ++l)
    for (auto* v : {&hidden_[l].before, &hidden_[l].tanh, &hidden_[l].after})
      v->resize(max_rows * layers_[l].out);
  weight_.resize(weight);
  weight_grad_.resize(weight);
  bias_.resize(widest);
  bias_grad_.resize(widest);
  outputs_.resize(max_rows * layers_.back().out);
  grad_.resize(max_rows * widest);
  next_grad_.resize(max_rows * widest);
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
  for (size_t l = 0; l < layers_.size(); ++l) {
    const LayerShape& shape = layers_[l];
    const bool last = l + 1 == layers_.size();
    weights.gather(int(l), weight_.data(), bias_.data());
    if (rows == 0) continue;  // this rank has no part in the batch, yet others gather
    float* z = last ? outputs_.data() : hidden_[l].before.data();
    multiply(CblasNoTrans, CblasTrans, rows, shape.out, shape.in, x, weight_.data(), z);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t o = 0; o < shape.out; ++o) z[r * shape.out + o] += bias_[o];
    if (last) break;
    activate(hidden_[l], rows * shape.out);
    x = hidden_[l].after.data();
  }
  return outputs_.data();
}

void Network::backward(Weights& weights, const float* x, int64_t rows, const float* output_grad) {
  std::copy_n(output_grad, rows * layers_.back().out, grad_.data());
  for (size_t l = layers_.size(); l-- > 0;) {
    const LayerShape& shape = layers_[l];
    const float* input = l == 0 ? x : hidden_[l - 1].after.data();
    std::fill_n(bias_grad_.data(), shape.out, 0.0f);
    if (rows == 0)
      std::fill_n(weight_grad_.data(), shape.weight_elems(), 0.0f);
    else
      multiply(CblasTrans, CblasNoTrans, shape.out, shape.in, rows, grad_.data(), input,
               weight_grad_.data());
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t o = 0; o < shape.out; ++o) bias_grad_[o] += grad_[r * shape.out + o];
    if (l > 0) {  // the slot held other layers since the forward pass
      weights.gather(int(l), weight_.data(), bias_.data());
      if (rows > 0)
        multiply(CblasNoTrans, CblasNoTrans, rows, shape.in, shape.out, grad_.data(),
                 weight_.data(), next_grad_.data());
    }
    weights.reduce(int(l), weight_grad_.data(), bias_grad_.data());
    if (l == 0) break;
    derive(hidden_[l - 1], rows * shape.in, next_grad_.data());
    grad_.swap(next_grad_);
  }
}

}  // namespace train
