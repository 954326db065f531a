// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The network's parameters as a rank keeps them.  Two kinds: sharded by Tide, or replicated.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "options.hpp"

namespace train {

struct LayerShape {
  int64_t out, in;  // weight [out x in], bias [out]
  int64_t weight_elems() const { return out * in; }
  int64_t elems() const { return out * in + out; }
};

/// What one rank keeps of one tensor: whole rows, in fp32.
struct Piece {
  int64_t rows = 0, row_elems = 0;      // of the tensor
  int64_t first_row = 0, own_rows = 0;  // of this rank
  float *master = nullptr, *grad = nullptr;
  float *moment1 = nullptr, *moment2 = nullptr;
  int64_t first_elem() const { return first_row * row_elems; }
  int64_t own_elems() const { return own_rows * row_elems; }
};

class Weights {
 public:
  virtual ~Weights() = default;
  /// Collective: the layer's weight and bias, all rows, rounded to bf16 and expanded.
  virtual void gather(int layer, float* weight, float* bias) = 0;
  /// Collective: the gradients' average over the ranks arrives in the pieces' grad.
  virtual void reduce(int layer, const float* weight_grad, const float* bias_grad) = 0;
  virtual bool sharded() const = 0;

  const std::vector<LayerShape>& layers() const { return layers_; }
  /// Weight and bias of each layer in turn.
  std::vector<Piece>& pieces() { return pieces_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  double comm_seconds() const { return comm_seconds_; }

 protected:
  explicit Weights(std::vector<LayerShape> layers) : layers_(std::move(layers)) {}
  std::vector<LayerShape> layers_;
  std::vector<Piece> pieces_;
  double comm_seconds_ = 0;
};

std::unique_ptr<Weights> make_sharded(MPI_Comm comm, const std::vector<LayerShape>& layers,
                                      bool node_shared);
std::unique_ptr<Weights> make_replicated(MPI_Comm comm, const std::vector<LayerShape>& layers);

/// The same values on any number of ranks, sharded or not.
void initialise(Weights& weights, uint64_t seed);

struct AdamW {
  double lr, weight_decay, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};
/// Local: one step from the pieces' gradients; step counts from 1.
void update(Weights& weights, const AdamW& adam, int64_t step);

}  // namespace train
