// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The reference: every rank keeps all of the model.  Unless it is to be exact, forward and
// backward see the same bf16-rounded weights as the sharded model; gradients are averaged in fp32
// by MPI_Allreduce.
#include "bf16.hpp"
#include "weights.hpp"

namespace train {
namespace {

class Replicated : public Weights {
 public:
  Replicated(MPI_Comm comm, const Architecture& architecture, bool exact)
      : Weights(comm, MPI_COMM_SELF, architecture, "reference."), exact_(exact) {}

 private:
  void load(int layer, bool, float* const* values) override {
    for (size_t p = 0; values && p < layers()[layer].tensors.size(); ++p) {
      const Piece& piece = pieces_of(layer)[p];
      for (int64_t e = 0; e < piece.own_elems(); ++e)
        values[p][e] = exact_ ? piece.master[e] : from_bf16(to_bf16(piece.master[e]));
    }
  }

  void take(int layer, const float* const* grads, bool first, bool last) override {
    int ranks;
    MPI_Comm_size(comm_, &ranks);
    const int64_t slice = int64_t(1) << 28;
    for (size_t p = 0; p < layers()[layer].tensors.size(); ++p) {
      const Piece& piece = pieces_of(layer)[p];
      const int64_t elems = piece.own_elems();
      for (int64_t e = 0; e < elems; ++e) piece.grad[e] = (first ? 0 : piece.grad[e]) + grads[p][e];
      if (!last) continue;
      {
        const Timer timer(exposed_.reduce);
        for (int64_t at = 0; at < elems; at += slice)
          MPI_Allreduce(MPI_IN_PLACE, piece.grad + at, int(std::min(slice, elems - at)), MPI_FLOAT,
                        MPI_SUM, comm_);
      }
      for (int64_t e = 0; e < elems; ++e) piece.grad[e] /= float(ranks);
    }
  }

  bool exact_;
};

}  // namespace

std::unique_ptr<Weights> make_replicated(MPI_Comm comm, const Architecture& architecture,
                                         bool exact) {
  return std::make_unique<Replicated>(comm, architecture, exact);
}

}  // namespace train
