// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <numbers>

#include "random.hpp"

namespace train {
namespace {

volatile std::sig_atomic_t stop_requested = 0;
void request_stop(int) { stop_requested = 1; }

// Rank r's share of n things: the first, and one past the last.
int64_t part(int64_t n, int64_t r, int64_t ranks) { return n * r / ranks; }

}  // namespace

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

Trainer::Trainer(MPI_Comm comm, const Options& options, std::unique_ptr<Task> task,
                 std::unique_ptr<Weights> weights, std::string name)
    : comm_(comm),
      options_(options),
      task_(std::move(task)),
      weights_(std::move(weights)),
      name_(std::move(name)) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  batches_ = (int64_t(task_->training().size()) + options.batch - 1) / options.batch;
  total_steps_ = options.steps > 0 ? options.steps : batches_ * options.epochs;
  state_.random = mix(options.seed + 0x5851f42d4c957f2dull);
  initialise(*weights_, options.seed);
}

std::vector<int64_t> Trainer::shuffled(uint64_t& random) const {
  std::vector<int64_t> items = task_->training();
  for (size_t n = items.size(); n > 1; --n) std::swap(items[n - 1], items[next_random(random) % n]);
  return items;
}

double Trainer::learning_rate() const {
  const double step = double(state_.step), total = double(total_steps_);
  const double warm_up = std::clamp(total / 10, 1.0, 100.0);
  if (step < warm_up) return options_.lr * (step + 1) / warm_up;
  const double done = (step - warm_up) / std::max(1.0, total - warm_up);
  return options_.lr * (0.01 + 0.99 * 0.5 * (1 + std::cos(std::numbers::pi * done)));
}

void Trainer::allreduce(void* data, int count, MPI_Datatype type, MPI_Op op) {
  const double start = MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, data, count, type, op, comm_);
  comm_seconds_ += MPI_Wtime() - start;
}

// A signal may reach the ranks between different batches, or one rank only.
bool Trainer::stop_agreed() {
  if (options_.checkpoint.empty()) return false;
  int stop = stop_requested;
  const double start = MPI_Wtime();
  allreduce(&stop, 1, MPI_INT, MPI_MAX);
  times_.agreement += MPI_Wtime() - start;
  return stop != 0;
}

void Trainer::compute_gradient(const int64_t* items, int64_t batch_items, Loss& loss) {
  const int64_t first = part(batch_items, rank_, ranks_);
  const int64_t n = part(batch_items, rank_ + 1, ranks_) - first;
  task_->gradient(*weights_, items + first, n, batch_items, ranks_, loss);
}

void Trainer::probe_gradient() {
  uint64_t random = state_.random;
  const std::vector<int64_t> items = shuffled(random);
  Loss unused;
  compute_gradient(items.data(), std::min<int64_t>(options_.batch, int64_t(items.size())), unused);
}

void Trainer::step(const std::vector<int64_t>& items) {
  const int64_t at = state_.batch * options_.batch;
  Loss loss;
  compute_gradient(&items[at], std::min<int64_t>(options_.batch, int64_t(items.size()) - at), loss);
  state_.loss.sum += loss.sum;
  state_.loss.count += loss.count;
  if (options_.step_log) step_losses_.push_back(loss);
  float factor = 1;
  if (options_.clip > 0)
    if (const double norm = weights_->norm(); norm > options_.clip)
      factor = float(options_.clip / norm);
  update(*weights_, {learning_rate(), options_.weight_decay}, state_.step + 1, factor);
}

void Trainer::report_progress(double& last_line) const {
  if (rank_ != 0 || MPI_Wtime() - last_line <= 15) return;
  last_line = MPI_Wtime();
  fmt::print("  {}: epoch {}, batch {} of {}, training loss {:.5f} (rank 0)\n", name_,
             state_.epoch + 1, state_.batch + 1, batches_, state_.loss.sum / state_.loss.count);
  std::fflush(stdout);
}

bool Trainer::run_epoch() {
  const int64_t stop_check_steps = 8;
  const bool measure = state_.epoch == 0;
  const int64_t memory = measure ? proportional_set() : 0;
  const double start = MPI_Wtime(), comm_start = comm_seconds_ + weights_->exposed().all();
  const Exposed before = weights_->exposed();
  // Of the epoch's own: what precedes and follows the epochs counts neither as time nor as
  // communication.
  const auto count_time = [&] {
    clock_.seconds += MPI_Wtime() - start;
    clock_.comm_seconds += comm_seconds_ + weights_->exposed().all() - comm_start;
  };
  const auto count_steps = [&] {
    const Exposed& now = weights_->exposed();
    times_.exposed.gather += now.gather - before.gather;
    times_.exposed.reduce += now.reduce - before.reduce;
    times_.exposed.other += now.other - before.other;
  };
  double last_line = start, step_start = start;
  uint64_t random = state_.random;
  const std::vector<int64_t> items = shuffled(random);
  for (; state_.batch < batches_ && !finished(); ++state_.batch, ++state_.step) {
    if (state_.step % stop_check_steps == 0 && stop_agreed()) {
      count_time();
      count_steps();
      return false;
    }
    step(items);
    report_progress(last_line);
    const double now = MPI_Wtime();
    times_.seconds.push_back(now - step_start);
    step_start = now;
  }
  count_steps();
  state_.random = random;
  state_.epoch += 1;
  state_.batch = 0;
  score();
  count_time();
  if (measure) {
    MPI_Barrier(comm_);
    measured_ += proportional_set() - memory;
  }
  return true;
}

void Trainer::score() {
  const int64_t most = task_->max_items();
  const std::vector<int64_t>& items = task_->validation();
  const int64_t total = int64_t(items.size());
  const int64_t first = part(total, rank_, ranks_), last = part(total, rank_ + 1, ranks_);
  const int64_t longest = (total + ranks_ - 1) / ranks_;
  const int parts = task_->parts();
  std::vector<Loss> losses(parts + 1);                  // of the validation, then of training
  for (int64_t done = 0; done < longest; done += most)  // the same number of gathers everywhere
    task_->evaluate(*weights_, items.data() + first + done,
                    std::clamp<int64_t>(last - first - done, 0, most), losses.data());
  losses[parts] = state_.loss;
  state_.loss = {};
  allreduce(losses.data(), 2 * int(losses.size()), MPI_DOUBLE, MPI_SUM);
  Score score{state_.epoch, state_.step, losses[parts].sum / losses[parts].count, 0, {}};
  Loss all;
  for (int p = 0; p < parts; ++p) {
    all.sum += losses[p].sum;
    all.count += losses[p].count;
  }
  score.measures = task_->measure(losses.data());
  score.validation_loss = all.sum / all.count;
  state_.history.push_back(score);
}

std::vector<double> Trainer::step_losses() const {
  std::vector<Loss> all(step_losses_.size());
  MPI_Reduce(step_losses_.data(), all.data(), 2 * int(all.size()), MPI_DOUBLE, MPI_SUM, 0, comm_);
  std::vector<double> means;
  for (const Loss& loss : all) means.push_back(rank_ == 0 ? loss.sum / loss.count : 0);
  return means;
}

Memory Trainer::memory() const {
  Memory memory;
  memory.planned = weights_->planned();
  memory.application = task_->bytes() + LayerBuffer(weights_->layers()).bytes();
  memory.measured = measured_;
  return memory;
}

}  // namespace train
