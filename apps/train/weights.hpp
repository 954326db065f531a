// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A model's parameters as a rank keeps them.  Three kinds: sharded by Tide's pipeline, sharded by
// MPI's own collectives, or replicated.
#pragma once
#include <mpi.h>
#include <mpix_tide.h>

#include <memory>
#include <string>
#include <vector>

#include "layers.hpp"
#include "options.hpp"

namespace train {

/// What one rank keeps of one tensor: whole rows, in fp32.
struct Piece {
  const Tensor* tensor = nullptr;
  int64_t first_row = 0, own_rows = 0;  // of this rank
  float *master = nullptr, *grad = nullptr, *moment1 = nullptr, *moment2 = nullptr;
  int64_t first_elem() const { return first_row * tensor->row_elems; }
  int64_t own_elems() const { return own_rows * tensor->row_elems; }
};

/// Seconds that a rank spent in communication and could not compute.
struct Exposed {
  double gather = 0, reduce = 0, other = 0;  // other: replicas, norms
  double all() const { return gather + reduce + other; }
};

/// Bytes of this rank, before any are taken.
struct Planned {
  int64_t shards = 0;      // masters, gradients, two moments
  int64_t parameters = 0;  // gathered
  int64_t gradients = 0;   // to be reduced
  int64_t workspace = 0;   // of the communicator
};

/// A step: begin, the forward visits, the backward visits (forward, or backward and reduce for each
/// visit, collective), finish.  Without gradients: begin, the forward visits, finish.
class Weights {
 public:
  virtual ~Weights();
  Weights(const Weights&) = delete;
  void operator=(const Weights&) = delete;

  virtual void begin();
  /// All rows of the layer's tensors, rounded to bf16 and expanded; valid until the next visit.
  const float* const* forward(int layer);
  /// The same; without values (NULL) where the computation needs none.
  const float* const* backward(int layer, bool values = true);
  /// Adds the gradients of this backward visit.  After the layer's last one their average over all
  /// ranks arrives in the pieces' grad, at finish.
  void reduce(int layer, const float* const* grads);
  virtual void finish(bool gradients);
  /// Collective: Euclidean norm of all averaged gradients.
  double norm();

  const Architecture& architecture() const { return architecture_; }
  const std::vector<Layer>& layers() const { return architecture_.layers; }
  /// The tensors of each layer in turn.
  std::vector<Piece>& pieces() { return pieces_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  const Exposed& exposed() const { return exposed_; }
  virtual Planned planned() const;
  /// Masters and moments, for MPIX_Tide_save and MPIX_Tide_load.
  std::vector<MPIX_Tide_item> items();

 protected:
  /// The pieces are shards over `shard`.  prefix: of the tensors' names.
  Weights(MPI_Comm comm, MPI_Comm shard, const Architecture& architecture,
          const std::string& prefix);
  /// Expands the layer into `values` (unless NULL).
  virtual void load(int layer, bool backward, float* const* values) = 0;
  /// first, last: of the layer's backward visits of this step.
  virtual void take(int layer, const float* const* grads, bool first, bool last) = 0;

  enum Kind { master, grad, moment1, moment2, kinds };
  void* const* list(Kind kind, int layer) const { return shards_[kind][layer].data(); }
  Piece* pieces_of(int layer) { return &pieces_[first_piece_[layer]]; }
  struct Timer {  // adds its life to a counter
    explicit Timer(double& to) : to_(to), start_(MPI_Wtime()) {}
    ~Timer() { to_ += MPI_Wtime() - start_; }
    double &to_, start_;
  };

  MPI_Comm comm_, shard_;
  std::vector<MPIX_Tide_group> groups_;
  Exposed exposed_;

 private:
  void create_group(const Layer& layer, const std::string& prefix);
  void allocate();
  void add_pieces(int layer);
  Architecture architecture_;
  std::vector<Piece> pieces_;
  std::vector<size_t> first_piece_;
  std::vector<std::vector<void*>> shards_[kinds];  // [kind][layer][tensor]
  void* base_ = nullptr;
  int64_t bytes_ = 0;
  LayerBuffer values_;
  std::vector<int> visits_, visits_left_;  // backward ones of each layer
};

std::unique_ptr<Weights> make_sharded(MPI_Comm comm, const Architecture& architecture,
                                      const Options& options);
std::unique_ptr<Weights> make_stock(MPI_Comm comm, const Architecture& architecture);
std::unique_ptr<Weights> make_replicated(MPI_Comm comm, const Architecture& architecture,
                                         bool exact);

/// The same values on any number of ranks, sharded or not.
void initialise(Weights& weights, uint64_t seed);

struct AdamW {
  double lr, weight_decay, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};
/// Local: one step from the pieces' gradients times `factor`; step counts from 1.
void update(Weights& weights, const AdamW& adam, int64_t step, float factor = 1);

}  // namespace train
