// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <numbers>
#include <numeric>

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

std::vector<LayerShape> layer_shapes(const Samples& samples, const Options& options) {
  std::vector<LayerShape> shapes;
  int64_t in = samples.inputs();
  for (int d = 0; d < options.depth; ++d, in = options.width) shapes.push_back({options.width, in});
  shapes.push_back({samples.outputs(), in});
  return shapes;
}

Trainer::Trainer(MPI_Comm comm, const Samples& samples, const Options& options,
                 std::unique_ptr<Weights> weights, std::string name)
    : comm_(comm),
      samples_(samples),
      options_(options),
      weights_(std::move(weights)),
      name_(std::move(name)),
      network_(weights_->layers(), options.activation, std::max(options.batch, 1024)) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  batches_ = (int64_t(samples.training().size()) + options.batch - 1) / options.batch;
  total_steps_ = options.steps > 0 ? options.steps : batches_ * options.epochs;
  x_.resize(network_.max_rows() * samples.inputs());
  y_.resize(network_.max_rows() * samples.outputs());
  grad_.resize(y_.size());
  state_.random = mix(options.seed + 0x5851f42d4c957f2dull);
  initialise(*weights_, options.seed);
}

std::vector<int64_t> Trainer::shuffled(uint64_t& random) const {
  std::vector<int64_t> cells = samples_.training();
  for (size_t n = cells.size(); n > 1; --n) std::swap(cells[n - 1], cells[next_random(random) % n]);
  return cells;
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
  allreduce(&stop, 1, MPI_INT, MPI_MAX);
  return stop != 0;
}

void Trainer::compute_gradient(const int64_t* cells, int64_t batch_rows) {
  const int64_t first = part(batch_rows, rank_, ranks_);
  const int64_t rows = part(batch_rows, rank_ + 1, ranks_) - first;
  samples_.assemble(cells + first, rows, x_.data(), y_.data());
  const float* out = network_.forward(*weights_, x_.data(), rows);
  // The mean over this rank's part; divided by the exact share of the batch, so that the average
  // over ranks is the mean over the batch even where parts differ by a sample.
  const int64_t elems = rows * samples_.outputs();
  const float scale = float(2.0 * ranks_ / double(batch_rows * samples_.outputs()));
  for (int64_t e = 0; e < elems; ++e) {
    const bool present = !std::isnan(y_[e]);
    const float error = present ? out[e] - y_[e] : 0.0f;
    grad_[e] = scale * error;
    state_.squares += double(error) * error;
    state_.count += present;
  }
  network_.backward(*weights_, x_.data(), rows, grad_.data());
}

void Trainer::probe_gradient() {
  uint64_t random = state_.random;
  const std::vector<int64_t> cells = shuffled(random);
  compute_gradient(cells.data(), std::min<int64_t>(options_.batch, int64_t(cells.size())));
  state_.squares = state_.count = 0;
}

bool Trainer::run_epoch() {
  const int64_t stop_check_steps = 8;
  const double start = MPI_Wtime(), comm_start = comm_seconds_ + weights_->comm_seconds();
  // Of the epoch's own: what precedes and follows the epochs counts neither as time nor as
  // communication.
  const auto count_time = [&] {
    clock_.seconds += MPI_Wtime() - start;
    clock_.comm_seconds += comm_seconds_ + weights_->comm_seconds() - comm_start;
  };
  double last_line = start;
  uint64_t random = state_.random;
  const std::vector<int64_t> cells = shuffled(random);
  const int64_t samples = int64_t(cells.size());
  for (; state_.batch < batches_ && !finished(); ++state_.batch, ++state_.step) {
    if (state_.step % stop_check_steps == 0 && stop_agreed()) {
      count_time();
      return false;
    }
    const int64_t at = state_.batch * options_.batch;
    compute_gradient(&cells[at], std::min<int64_t>(options_.batch, samples - at));
    update(*weights_, {learning_rate(), options_.weight_decay}, state_.step + 1);
    if (rank_ == 0 && MPI_Wtime() - last_line > 15) {
      last_line = MPI_Wtime();
      fmt::print("  {}: epoch {}, batch {} of {}, training loss {:.5f} (rank 0)\n", name_,
                 state_.epoch + 1, state_.batch + 1, batches_, state_.squares / state_.count);
      std::fflush(stdout);
    }
  }
  state_.random = random;
  state_.epoch += 1;
  state_.batch = 0;
  score();
  count_time();
  return true;
}

void Trainer::score() {
  const int64_t fields = samples_.outputs(), rows = network_.max_rows();
  const std::vector<int64_t>& cells = samples_.validation();
  const int64_t total = int64_t(cells.size());
  const int64_t first = part(total, rank_, ranks_), last = part(total, rank_ + 1, ranks_);
  const int64_t longest = (total + ranks_ - 1) / ranks_;
  std::vector<double> sums(2 * fields + 2);  // squares and counts per field, then of training
  for (int64_t done = 0; done < longest; done += rows) {  // the same number of gathers everywhere
    const int64_t count = std::clamp<int64_t>(last - first - done, 0, rows);
    samples_.assemble(cells.data() + first + done, count, x_.data(), y_.data());
    const float* out = network_.forward(*weights_, x_.data(), count);
    for (int64_t e = 0; e < count * fields; ++e)
      if (!std::isnan(y_[e])) {
        const double error = double(out[e]) - y_[e];
        sums[e % fields] += error * error;
        sums[fields + e % fields] += 1;
      }
  }
  sums[2 * fields] = state_.squares;
  sums[2 * fields + 1] = state_.count;
  state_.squares = state_.count = 0;
  allreduce(sums.data(), int(sums.size()), MPI_DOUBLE, MPI_SUM);
  Score score{state_.epoch, state_.step};
  score.training_loss = sums[2 * fields] / sums[2 * fields + 1];
  double squares = 0, count = 0;
  for (int64_t f = 0; f < fields; ++f) {
    squares += sums[f];
    count += sums[fields + f];
    score.rmse.push_back(std::sqrt(sums[f] / sums[fields + f]) * samples_.fields()[f].deviation);
  }
  score.validation_loss = squares / count;
  state_.history.push_back(score);
}

std::vector<float> Trainer::predict(const std::vector<int64_t>& cells) {
  const int64_t fields = samples_.outputs(), rows = network_.max_rows();
  std::vector<float> result;
  for (int64_t done = 0; done < int64_t(cells.size()); done += rows) {
    const int64_t count = std::min<int64_t>(rows, int64_t(cells.size()) - done);
    samples_.assemble(cells.data() + done, rank_ == 0 ? count : 0, x_.data(), nullptr);
    const float* out = network_.forward(*weights_, x_.data(), rank_ == 0 ? count : 0);
    if (rank_ == 0) result.insert(result.end(), out, out + count * fields);
  }
  return result;
}

}  // namespace train
