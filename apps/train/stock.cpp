// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The baseline: the same shards, gathered and reduced as FSDP2 does it with stock collectives.  A
// layer is one flat, padded MPI_Allgather, split into its tensors by copies; its bf16 gradients are
// cut into the ranks' chunks in a flat fp32 buffer, which MPI_Reduce_scatter sums.
#include <algorithm>
#include <cstring>

#include "bf16.hpp"
#include "weights.hpp"

namespace train {
namespace {

class Stock : public Weights {
 public:
  Stock(MPI_Comm comm, const Architecture& architecture);
  Planned planned() const override;

 private:
  int64_t chunk(const Tensor& t) const { return (t.rows + ranks_ - 1) / ranks_ * t.row_elems; }
  int64_t chunks(int layer) const;  // elements of one rank, padded
  void load(int layer, bool backward, float* const* values) override;
  void take(int layer, const float* const* grads, bool first, bool last) override;
  int ranks_;
  std::vector<Bf16> own_, flat_, tensors_, grads_;
  std::vector<float> flat_grads_, sums_;
  std::vector<std::vector<Bf16>> kept_;  // gradients of layers that are visited again
};

Stock::Stock(MPI_Comm comm, const Architecture& architecture)
    : Weights(comm, comm, architecture, "") {
  MPI_Comm_size(comm, &ranks_);
  int64_t most = 0, elems = 0;
  for (size_t l = 0; l < layers().size(); ++l) {
    most = std::max(most, chunks(int(l)));
    elems = std::max(elems, layers()[l].elems());
    const auto visits =
        std::count(architecture.forward.begin(), architecture.forward.end(), int(l));
    kept_.emplace_back(visits > 1 ? layers()[l].elems() : 0);
  }
  own_.resize(most);
  sums_.resize(most);
  flat_.resize(most * ranks_);
  flat_grads_.resize(most * ranks_);
  tensors_.resize(elems);
  grads_.resize(elems);
}

int64_t Stock::chunks(int layer) const {
  int64_t elems = 0;
  for (const Tensor& t : layers()[layer].tensors) elems += chunk(t);
  return elems;
}

Planned Stock::planned() const {
  Planned planned = Weights::planned();
  planned.parameters = int64_t(2 * (tensors_.size() + own_.size() + flat_.size()));
  planned.gradients = int64_t(2 * grads_.size() + 4 * (sums_.size() + flat_grads_.size()));
  for (const auto& kept : kept_) planned.gradients += int64_t(2 * kept.size());
  return planned;
}

void Stock::load(int layer, bool, float* const* values) {
  const std::vector<Tensor>& tensors = layers()[layer].tensors;
  const int64_t own = chunks(layer);
  {
    const Timer timer(exposed_.gather);
    Bf16* to = own_.data();
    for (size_t p = 0; p < tensors.size(); to += chunk(tensors[p++]))
      store_bf16(pieces_of(layer)[p].master, pieces_of(layer)[p].own_elems(), false, to);
    MPI_Allgather(own_.data(), int(own), MPI_UINT16_T, flat_.data(), int(own), MPI_UINT16_T, comm_);
    to = tensors_.data();
    int64_t at = 0;
    for (const Tensor& t : tensors) {  // the split copy, without the padding
      for (int64_t r = 0, done = 0; r < ranks_; ++r, done += chunk(t)) {
        const int64_t n = std::clamp<int64_t>(t.elems() - done, 0, chunk(t));
        if (n > 0) std::memcpy(to + done, &flat_[r * own + at], size_t(2 * n));
      }
      to += t.elems();
      at += chunk(t);
    }
  }
  const Bf16* from = tensors_.data();
  for (size_t p = 0; values && p < tensors.size(); from += tensors[p++].elems())
    expand_bf16(from, tensors[p].elems(), values[p]);
}

void Stock::take(int layer, const float* const* grads, bool first, bool last) {
  const std::vector<Tensor>& tensors = layers()[layer].tensors;
  Bf16* const own_grads = kept_[layer].empty() ? grads_.data() : kept_[layer].data();
  Bf16* to = own_grads;
  for (size_t p = 0; p < tensors.size(); to += tensors[p++].elems())
    store_bf16(grads[p], tensors[p].elems(), !first, to);
  if (!last) return;
  const Timer timer(exposed_.reduce);
  const int64_t own = chunks(layer);
  const Bf16* from = own_grads;
  int64_t at = 0;
  for (const Tensor& t : tensors) {  // chunk_cat
    for (int64_t r = 0, done = 0; r < ranks_; ++r, done += chunk(t)) {
      const int64_t n = std::clamp<int64_t>(t.elems() - done, 0, chunk(t));
      float* const chunk_at = &flat_grads_[r * own + at];
      expand_bf16(from + done, n, chunk_at);
      std::fill_n(chunk_at + n, chunk(t) - n, 0.0f);
    }
    from += t.elems();
    at += chunk(t);
  }
  const std::vector<int> counts(ranks_, int(own));
  MPI_Reduce_scatter(flat_grads_.data(), sums_.data(), counts.data(), MPI_FLOAT, MPI_SUM, comm_);
  const float* sum = sums_.data();
  for (size_t p = 0; p < tensors.size(); sum += chunk(tensors[p++])) {
    const Piece& piece = pieces_of(layer)[p];
    for (int64_t e = 0; e < piece.own_elems(); ++e) piece.grad[e] = sum[e] / float(ranks_);
  }
}

}  // namespace

std::unique_ptr<Weights> make_stock(MPI_Comm comm, const Architecture& architecture) {
  return std::make_unique<Stock>(comm, architecture);
}

}  // namespace train
