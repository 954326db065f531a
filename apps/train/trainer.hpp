// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Data-parallel training of one model: each rank takes its part of each batch.
#pragma once
#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "breakdown.hpp"
#include "task.hpp"
#include "weights.hpp"

namespace train {

/// One finished epoch.
struct Score {
  int64_t epoch = 0, step = 0;
  double training_loss = 0, validation_loss = 0;  // means
  std::vector<double> measures;                   // of the validation, one for each Measure
};

/// Where training stands; with the pieces of Weights this is all that a checkpoint holds.
struct State {
  int64_t epoch = 0, batch = 0, step = 0;  // batch: the next one of this epoch
  uint64_t random = 0;                     // as it was when this epoch began
  Loss loss;                               // this rank's, of this epoch so far
  std::vector<Score> history;
};

struct Clock {
  double seconds = 0, comm_seconds = 0;
};

class Trainer {
 public:
  Trainer(MPI_Comm comm, const Options& options, std::unique_ptr<Task> task,
          std::unique_ptr<Weights> weights, std::string name);
  const std::string& name() const { return name_; }
  bool finished() const { return state_.step >= total_steps_; }
  /// Collective: trains to the end of the epoch and scores it.  False: a signal asked to stop, the
  /// state then stands between two batches.
  bool run_epoch();
  /// Collective: the gradient of the first batch, averaged over the ranks, in the pieces' grad.
  void probe_gradient();

  int64_t batches() const { return batches_; }
  State& state() { return state_; }
  const State& state() const { return state_; }
  Weights& weights() { return *weights_; }
  Task& task() { return *task_; }
  /// Of all epochs of this run.
  Clock clock() const { return clock_; }
  const StepTimes& times() const { return times_; }
  /// Collective, once: mean training loss of each step of this run, on rank 0.
  std::vector<double> step_losses() const;
  Memory memory() const;
  void add_measured(int64_t bytes) { measured_ += bytes; }

 private:
  void compute_gradient(const int64_t* items, int64_t batch_items, Loss& loss);
  void step(const std::vector<int64_t>& items);
  void report_progress(double& last_line) const;
  std::vector<int64_t> shuffled(uint64_t& random) const;
  double learning_rate() const;
  bool stop_agreed();
  void score();
  void allreduce(void* data, int count, MPI_Datatype type, MPI_Op op);

  MPI_Comm comm_;
  int rank_, ranks_;
  const Options& options_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<Weights> weights_;
  std::string name_;
  int64_t batches_, total_steps_;
  State state_;
  double comm_seconds_ = 0;  // of allreduce
  Clock clock_;
  StepTimes times_;
  std::vector<Loss> step_losses_;
  int64_t measured_ = 0;
};

/// From now on SIGUSR1 and SIGTERM ask training to save and stop.
void catch_signals();

}  // namespace train
