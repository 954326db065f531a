// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Data-parallel training of one model: each rank takes its part of each batch.
#pragma once
#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "network.hpp"
#include "samples.hpp"
#include "weights.hpp"

namespace train {

/// One finished epoch.
struct Score {
  int64_t epoch = 0, step = 0;
  double training_loss = 0, validation_loss = 0;  // mean square of normalised errors
  std::vector<double> rmse;                       // validation, per field, in its units
};

/// Where training stands; with the pieces of Weights this is all that a checkpoint holds.
struct State {
  int64_t epoch = 0, batch = 0, step = 0;  // batch: the next one of this epoch
  uint64_t random = 0;                     // as it was when this epoch began
  double squares = 0, count = 0;           // this rank's training loss of this epoch so far
  std::vector<Score> history;
};

struct Clock {
  double seconds = 0, comm_seconds = 0;
};

class Trainer {
 public:
  Trainer(MPI_Comm comm, const Samples& samples, const Options& options,
          std::unique_ptr<Weights> weights, std::string name);
  const std::string& name() const { return name_; }
  bool finished() const { return state_.step >= total_steps_; }
  /// Collective: trains to the end of the epoch and scores it.  False: a signal asked to stop, the
  /// state then stands between two batches.
  bool run_epoch();
  /// Collective: the gradient of the first batch, averaged over the ranks, in the pieces' grad.
  void probe_gradient();
  /// Collective: the model's fields (normalised), [cells x outputs], on rank 0.
  std::vector<float> predict(const std::vector<int64_t>& cells);

  int64_t batches() const { return batches_; }
  State& state() { return state_; }
  Weights& weights() { return *weights_; }
  /// Of all epochs of this run.
  Clock clock() const { return clock_; }

 private:
  void compute_gradient(const int64_t* cells, int64_t batch_rows);
  std::vector<int64_t> shuffled(uint64_t& random) const;
  double learning_rate() const;
  bool stop_agreed();
  void score();
  void allreduce(void* data, int count, MPI_Datatype type, MPI_Op op);
  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
  const Samples& samples_;
  const Options& options_;
  std::unique_ptr<Weights> weights_;
  std::string name_;
  Network network_;
  int64_t batches_, total_steps_;
  State state_;
  std::vector<float> x_, y_, grad_;
  double comm_seconds_ = 0;  // of allreduce
  Clock clock_;
};

std::vector<LayerShape> layer_shapes(const Samples& samples, const Options& options);

/// From now on SIGUSR1 and SIGTERM ask training to save and stop.
void catch_signals();

}  // namespace train
