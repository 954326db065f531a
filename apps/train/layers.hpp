// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a model is made of: layers of tensors, and the order in which a step visits the layers.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace train {

struct Tensor {
  std::string name;
  int64_t rows, row_elems;
  double bound = 0;     // initial values are uniform in -bound .. bound, around
  double centre = 0;    // this
  bool decays = false;  // weights do, biases and norms do not
  int64_t elems() const { return rows * row_elems; }
};

struct Layer {
  std::string name;
  std::vector<Tensor> tensors;
  int64_t elems() const {
    return std::accumulate(tensors.begin(), tensors.end(), int64_t(0),
                           [](int64_t n, const Tensor& t) { return n + t.elems(); });
  }
};

struct Architecture {
  std::vector<Layer> layers;
  std::vector<int> forward;  // visits; the backward ones are the same in reverse
  int64_t elems() const {
    return std::accumulate(layers.begin(), layers.end(), int64_t(0),
                           [](int64_t n, const Layer& l) { return n + l.elems(); });
  }
};

/// fp32 storage for one layer at a time: the addresses of its tensors.
class LayerBuffer {
 public:
  explicit LayerBuffer(const std::vector<Layer>& layers) {
    int64_t most = 0;
    for (const Layer& layer : layers) most = std::max(most, layer.elems());
    values_.resize(most);
  }
  float* const* of(const Layer& layer) {
    tensors_.clear();
    float* at = values_.data();
    for (const Tensor& tensor : layer.tensors) {
      tensors_.push_back(at);
      at += tensor.elems();
    }
    return tensors_.data();
  }
  int64_t bytes() const { return int64_t(values_.size() * sizeof(float)); }

 private:
  std::vector<float> values_;
  std::vector<float*> tensors_;
};

}  // namespace train
