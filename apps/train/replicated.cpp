// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The reference: every rank keeps all of the model.  Forward and backward see the same
// bf16-rounded weights as the sharded model; gradients are averaged in fp32 by MPI_Allreduce.
#include "bf16.hpp"
#include "weights.hpp"

#include <algorithm>

namespace train {
namespace {

class Replicated : public Weights {
 public:
  Replicated(MPI_Comm comm, const std::vector<LayerShape>& shapes) : Weights(shapes), comm_(comm) {
    int64_t elems = 0;
    for (const LayerShape& shape : shapes) elems += shape.elems();
    storage_.resize(4 * elems);
    float* at = storage_.data();
    for (const LayerShape& shape : shapes)
      for (int64_t row_elems : {shape.in, int64_t(1)}) {
        const int64_t own = shape.out * row_elems;
        // grad of weight and bias stand side by side, so that a layer is one reduction
        pieces_.push_back(
            {shape.out, row_elems, 0, shape.out, at, at + elems, at + 2 * elems, at + 3 * elems});
        at += own;
      }
  }

  void gather(int layer, float* weight, float* bias) override {
    const Piece &w = pieces_[2 * layer], &b = pieces_[2 * layer + 1];
    for (int64_t e = 0; e < w.own_elems(); ++e) weight[e] = from_bf16(to_bf16(w.master[e]));
    for (int64_t e = 0; e < b.own_elems(); ++e) bias[e] = from_bf16(to_bf16(b.master[e]));
  }

  void reduce(int layer, const float* weight_grad, const float* bias_grad) override {
    const Piece &w = pieces_[2 * layer], &b = pieces_[2 * layer + 1];
    std::copy_n(weight_grad, w.own_elems(), w.grad);
    std::copy_n(bias_grad, b.own_elems(), b.grad);
    int ranks;
    MPI_Comm_size(comm_, &ranks);
    const int64_t elems = layers_[layer].elems(), slice = int64_t(1) << 28;
    const double start = MPI_Wtime();
    for (int64_t at = 0; at < elems; at += slice)
      MPI_Allreduce(MPI_IN_PLACE, w.grad + at, int(std::min(slice, elems - at)), MPI_FLOAT, MPI_SUM,
                    comm_);
    comm_seconds_ += MPI_Wtime() - start;
    for (int64_t e = 0; e < elems; ++e) w.grad[e] /= float(ranks);
  }

  bool sharded() const override { return false; }

 private:
  MPI_Comm comm_;
  std::vector<float> storage_;  // masters, gradients, moments
};

}  // namespace

std::unique_ptr<Weights> make_replicated(MPI_Comm comm, const std::vector<LayerShape>& layers) {
  return std::make_unique<Replicated>(comm, layers);
}

}  // namespace train
