// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transformer.hpp"

#include <algorithm>
#include <cmath>

#include "activation.hpp"
#include "blas.hpp"

namespace train {
namespace {

// y [rows x out] = x [rows x in] w^T + b, added to y if `add`.
void linear(const float* x, int64_t rows, int64_t in, const float* w, const float* b, int64_t out,
            float* y, bool add = false) {
  multiply(rows, out, in, {x, in}, {w, in, CblasTrans}, y, out, 1, add ? 1 : 0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < out; ++o) y[r * out + o] += b[o];
}

// From dy: dw, db, and dx.
void linear_back(const float* dy, const float* x, int64_t rows, int64_t in, const float* w,
                 int64_t out, float* dw, float* db, float* dx) {
  multiply(out, in, rows, {dy, out, CblasTrans}, {x, in}, dw, in);
  std::fill_n(db, out, 0.0f);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < out; ++o) db[o] += dy[r * out + o];
  multiply(rows, in, out, {dy, out}, {w, in}, dx, in);
}

Tensor weight(const char* name, int64_t out, int64_t in, double factor = 1) {
  return {name, out, in, factor * std::sqrt(3.0 / double(in)), 0, true};
}

}  // namespace

Architecture transformer(const TransformerShape& s) {
  const int64_t d = s.width;
  const double small = 0.02 * std::sqrt(3.0), last = 1 / std::sqrt(2.0 * double(s.blocks));
  const Tensor gain{"norm.weight", d, 1, 0, 1}, bias{"norm.bias", d, 1};
  Architecture result;
  result.layers.push_back(
      {"embedding",
       {{"token.weight", s.tokens, d, small, 0, true}, {"position.weight", s.context, d, small}}});
  for (int64_t b = 0; b < s.blocks; ++b) {
    const std::string block = "block" + std::to_string(b);
    result.layers.push_back({block + ".attention",
                             {gain,
                              bias,
                              weight("qkv.weight", 3 * d, d),
                              {"qkv.bias", 3 * d, 1},
                              weight("out.weight", d, d, last),
                              {"out.bias", d, 1}}});
    result.layers.push_back({block + ".mlp",
                             {gain,
                              bias,
                              weight("up.weight", 4 * d, d),
                              {"up.bias", 4 * d, 1},
                              weight("down.weight", d, 4 * d, last),
                              {"down.bias", d, 1}}});
  }
  result.layers.push_back({"final", {gain, bias}});
  for (size_t l = 0; l < result.layers.size(); ++l) result.forward.push_back(int(l));
  result.forward.push_back(0);
  return result;
}

Transformer::Transformer(const TransformerShape& shape, int64_t max_sequences)
    : shape_(shape),
      max_sequences_(max_sequences),
      layers_(transformer(shape).layers),
      grads_(layers_),
      attention_(shape.blocks),
      mlp_(shape.blocks) {
  const int64_t rows = max_sequences * shape.context, d = shape.width;
  const auto make_norm = [&](Norm& norm) {
    norm.normed.resize(rows * d);
    norm.inverse.resize(rows);
  };
  for (Attention& a : attention_) {
    make_norm(a.norm);
    a.qkv.resize(rows * 3 * d);
    a.shares.resize(rows * shape.heads * shape.context);
    a.mixed.resize(rows * d);
  }
  for (Mlp& m : mlp_) {
    make_norm(m.norm);
    for (Values* v : {&m.before, &m.tanh, &m.after}) v->resize(rows * 4 * d);
  }
  make_norm(final_);
  for (Values* v : {&x_, &h_, &dx_, &dh_}) v->resize(rows * d);
  logits_.resize(rows * shape.tokens);
  dwide_.resize(rows * 4 * d);
  ds_.resize(shape.context * shape.context);
}

int64_t Transformer::bytes() const {
  const auto size = [](const Norm& n) { return n.normed.size() + n.inverse.size(); };
  size_t floats = x_.size() + h_.size() + logits_.size() + dx_.size() + dh_.size() + dwide_.size() +
                  ds_.size() + size(final_);
  for (const Attention& a : attention_)
    floats += size(a.norm) + a.qkv.size() + a.shares.size() + a.mixed.size();
  for (const Mlp& m : mlp_)
    floats += size(m.norm) + m.before.size() + m.tanh.size() + m.after.size();
  return grads_.bytes() + int64_t(floats * sizeof(float));
}

// Of x_; h_ is the result.  w: gain and bias come first in every list.
void Transformer::normalise(const float* const* w, int64_t rows, Norm& norm) {
  const int64_t d = shape_.width;
  for (int64_t r = 0; r < rows; ++r) {
    const float* x = &x_[r * d];
    float mean = 0, square = 0;
    for (int64_t e = 0; e < d; ++e) mean += x[e];
    mean /= float(d);
    for (int64_t e = 0; e < d; ++e) square += (x[e] - mean) * (x[e] - mean);
    norm.inverse[r] = 1 / std::sqrt(square / float(d) + 1e-5f);
    for (int64_t e = 0; e < d; ++e) norm.normed[r * d + e] = (x[e] - mean) * norm.inverse[r];
  }
  rescale(w, rows, norm);
}

void Transformer::rescale(const float* const* w, int64_t rows, const Norm& norm) {
  const int64_t d = shape_.width;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t e = 0; e < d; ++e) h_[r * d + e] = norm.normed[r * d + e] * w[0][e] + w[1][e];
}

// From dh_; added to dx_.
void Transformer::normalise_back(const float* const* w, int64_t rows, const Norm& norm,
                                 float* const* grads) {
  const int64_t d = shape_.width;
  std::fill_n(grads[0], d, 0.0f);
  std::fill_n(grads[1], d, 0.0f);
  for (int64_t r = 0; r < rows; ++r) {
    const float *dh = &dh_[r * d], *n = &norm.normed[r * d];
    float mean = 0, along = 0;  // of the gradient, and of its part along n
    for (int64_t e = 0; e < d; ++e) {
      grads[0][e] += dh[e] * n[e];
      grads[1][e] += dh[e];
      mean += dh[e] * w[0][e];
      along += dh[e] * w[0][e] * n[e];
    }
    mean /= float(d);
    along /= float(d);
    for (int64_t e = 0; e < d; ++e)
      dx_[r * d + e] += norm.inverse[r] * (dh[e] * w[0][e] - mean - n[e] * along);
  }
}

void Transformer::attend(const float* const* w, int64_t sequences, Attention& a) {
  const int64_t d = shape_.width, t = shape_.context, part = d / shape_.heads;
  const float scale = 1 / std::sqrt(float(part));
  normalise(w, sequences * t, a.norm);
  linear(h_.data(), sequences * t, d, w[2], w[3], 3 * d, a.qkv.data());
  for (int64_t s = 0; s < sequences; ++s)
    for (int64_t head = 0; head < shape_.heads; ++head) {
      const float* q = &a.qkv[s * t * 3 * d + head * part];
      float* p = &a.shares[(s * shape_.heads + head) * t * t];
      multiply(t, t, part, {q, 3 * d}, {q + d, 3 * d, CblasTrans}, p, t, scale);
      for (int64_t i = 0; i < t; ++i) {  // softmax over this position and those before it
        float* row = p + i * t;
        const float most = *std::max_element(row, row + i + 1);
        float sum = 0;
        for (int64_t j = 0; j <= i; ++j) sum += row[j] = std::exp(row[j] - most);
        for (int64_t j = 0; j <= i; ++j) row[j] /= sum;
        std::fill(row + i + 1, row + t, 0.0f);
      }
      multiply(t, part, t, {p, t}, {q + 2 * d, 3 * d}, &a.mixed[s * t * d + head * part], d);
    }
  linear(a.mixed.data(), sequences * t, d, w[4], w[5], d, x_.data(), true);
}

void Transformer::attend_back(const float* const* w, int64_t sequences, Attention& a,
                              float* const* grads) {
  const int64_t d = shape_.width, t = shape_.context, part = d / shape_.heads;
  const int64_t rows = sequences * t;
  const float scale = 1 / std::sqrt(float(part));
  float* const dqkv = dwide_.data();
  linear_back(dx_.data(), a.mixed.data(), rows, d, w[4], d, grads[4], grads[5], dh_.data());
  for (int64_t s = 0; s < sequences; ++s)
    for (int64_t head = 0; head < shape_.heads; ++head) {
      const int64_t at = s * t * 3 * d + head * part;
      const float *q = &a.qkv[at], *p = &a.shares[(s * shape_.heads + head) * t * t];
      const float* dmixed = &dh_[s * t * d + head * part];
      multiply(t, part, t, {p, t, CblasTrans}, {dmixed, d}, dqkv + at + 2 * d, 3 * d);
      multiply(t, t, part, {dmixed, d}, {q + 2 * d, 3 * d, CblasTrans}, ds_.data(), t);
      for (int64_t i = 0; i < t; ++i) {
        float sum = 0;
        for (int64_t j = 0; j <= i; ++j) sum += p[i * t + j] * ds_[i * t + j];
        for (int64_t j = 0; j < t; ++j) ds_[i * t + j] = p[i * t + j] * (ds_[i * t + j] - sum);
      }
      multiply(t, part, t, {ds_.data(), t}, {q + d, 3 * d}, dqkv + at, 3 * d, scale);
      multiply(t, part, t, {ds_.data(), t, CblasTrans}, {q, 3 * d}, dqkv + at + d, 3 * d, scale);
    }
  rescale(w, rows, a.norm);
  linear_back(dqkv, h_.data(), rows, d, w[2], 3 * d, grads[2], grads[3], dh_.data());
  normalise_back(w, rows, a.norm, grads);
}

void Transformer::expand(const float* const* w, int64_t rows, Mlp& m) {
  const int64_t d = shape_.width;
  normalise(w, rows, m.norm);
  linear(h_.data(), rows, d, w[2], w[3], 4 * d, m.before.data());
  for (int64_t e = 0; e < rows * 4 * d; ++e) {
    const float z = m.before[e];
    m.tanh[e] = quick_tanh(kGelu * (z + kCubic * z * z * z));
    m.after[e] = z * 0.5f * (1 + m.tanh[e]);
  }
  linear(m.after.data(), rows, 4 * d, w[4], w[5], d, x_.data(), true);
}

void Transformer::expand_back(const float* const* w, int64_t rows, Mlp& m, float* const* grads) {
  const int64_t d = shape_.width;
  linear_back(dx_.data(), m.after.data(), rows, 4 * d, w[4], d, grads[4], grads[5], dwide_.data());
  for (int64_t e = 0; e < rows * 4 * d; ++e) {
    const float z = m.before[e], t = m.tanh[e];
    dwide_[e] *= 0.5f * (1 + t) + 0.5f * z * (1 - t * t) * kGelu * (1 + 3 * kCubic * z * z);
  }
  rescale(w, rows, m.norm);
  linear_back(dwide_.data(), h_.data(), rows, d, w[2], 4 * d, grads[2], grads[3], dh_.data());
  normalise_back(w, rows, m.norm, grads);
}

// Leaves the loss's derivative in logits_.
Loss Transformer::cross_entropy(const uint8_t* text, int64_t sequences) {
  const int64_t t = shape_.context, tokens = shape_.tokens;
  Loss loss;
  for (int64_t r = 0; r < sequences * t; ++r) {
    float* row = &logits_[r * tokens];
    const int64_t next = text[r / t * (t + 1) + r % t + 1];
    const float most = *std::max_element(row, row + tokens), told = row[next] - most;
    float sum = 0;
    for (int64_t v = 0; v < tokens; ++v) sum += row[v] = std::exp(row[v] - most);
    for (int64_t v = 0; v < tokens; ++v) row[v] /= sum;
    row[next] -= 1;
    loss.sum += std::log(double(sum)) - told;
    loss.count += 1;
  }
  return loss;
}

Loss Transformer::forward(Weights& weights, const uint8_t* text, int64_t sequences) {
  const int64_t d = shape_.width, t = shape_.context, rows = sequences * t;
  weights.begin();
  const float* const* w = weights.forward(0);
  for (int64_t r = 0; r < rows; ++r) {
    const float *token = w[0] + text[r / t * (t + 1) + r % t] * d, *position = w[1] + r % t * d;
    for (int64_t e = 0; e < d; ++e) x_[r * d + e] = token[e] + position[e];
  }
  for (int64_t b = 0; b < shape_.blocks; ++b) {
    attend(weights.forward(int(1 + 2 * b)), sequences, attention_[b]);
    expand(weights.forward(int(2 + 2 * b)), rows, mlp_[b]);
  }
  normalise(weights.forward(int(1 + 2 * shape_.blocks)), rows, final_);
  w = weights.forward(0);
  multiply(rows, shape_.tokens, d, {h_.data(), d}, {w[0], d, CblasTrans}, logits_.data(),
           shape_.tokens);
  return cross_entropy(text, sequences);
}

void Transformer::backward(Weights& weights, const uint8_t* text, int64_t sequences, float scale) {
  const int64_t d = shape_.width, t = shape_.context, rows = sequences * t;
  const int64_t tokens = shape_.tokens;
  const auto start = [&](int64_t layer) { return grads_.of(layers_[layer]); };

  const float* const* w = weights.backward(0);  // as the last layer: h_ still is its input
  float* const* grads = start(0);
  multiply(tokens, d, rows, {logits_.data(), tokens, CblasTrans}, {h_.data(), d}, grads[0], d,
           scale);
  std::fill_n(grads[1], t * d, 0.0f);
  multiply(rows, d, tokens, {logits_.data(), tokens}, {w[0], d}, dh_.data(), d, scale);
  weights.reduce(0, grads);

  std::fill_n(dx_.data(), rows * d, 0.0f);
  const int last = int(1 + 2 * shape_.blocks);
  w = weights.backward(last);
  grads = start(last);
  normalise_back(w, rows, final_, grads);
  weights.reduce(last, grads);
  for (int64_t b = shape_.blocks; b-- > 0;)
    for (const int layer : {int(2 + 2 * b), int(1 + 2 * b)}) {
      w = weights.backward(layer);
      grads = start(layer);
      if (layer % 2 == 0)
        expand_back(w, rows, mlp_[b], grads);
      else
        attend_back(w, sequences, attention_[b], grads);
      weights.reduce(layer, grads);
    }

  weights.backward(0, false);  // as the first layer
  grads = start(0);
  std::fill_n(grads[0], tokens * d, 0.0f);
  std::fill_n(grads[1], t * d, 0.0f);
  for (int64_t r = 0; r < rows; ++r) {
    float *token = grads[0] + text[r / t * (t + 1) + r % t] * d, *position = grads[1] + r % t * d;
    for (int64_t e = 0; e < d; ++e) {
      token[e] += dx_[r * d + e];
      position[e] += dx_[r * d + e];
    }
  }
  weights.reduce(0, grads);
  weights.finish(true);
}

}  // namespace train
