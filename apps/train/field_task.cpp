// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "field_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace train {

FieldTask::FieldTask(const Samples& samples, const Options& options)
    : samples_(samples),
      options_(options),
      architecture_(perceptron(samples.inputs(), options.width, options.depth, samples.outputs())),
      network_(architecture_.layers, options.activation, std::max(options.batch, 1024)) {
  x_.resize(network_.max_rows() * samples.inputs());
  y_.resize(network_.max_rows() * samples.outputs());
  grad_.resize(y_.size());
  for (const Field& field : samples.fields())
    measures_.push_back({field.name, field.units, field.deviation});
}

nlohmann::json FieldTask::identity() const {
  return {{"--vars", options_.vars},
          {"--activation", int(options_.activation)},
          {"data and --holdout (fingerprint)", samples_.fingerprint()}};
}

std::string FieldTask::describe() const {
  return fmt::format("{}: {} training and {} validation samples, {} inputs, {} fields",
                     options_.data, training().size(), validation().size(), samples_.inputs(),
                     samples_.outputs());
}

int64_t FieldTask::bytes() const {
  return network_.bytes() + int64_t((x_.size() + y_.size() + grad_.size()) * sizeof(float));
}

void FieldTask::gradient(Weights& weights, const int64_t* items, int64_t n, int64_t batch,
                         int ranks, Loss& loss) {
  samples_.assemble(items, n, x_.data(), y_.data());
  const float* out = network_.forward(weights, x_.data(), n);
  // The mean over this rank's part; divided by the exact share of the batch, so that the average
  // over ranks is the mean over the batch even where parts differ by a sample.
  const int64_t elems = n * samples_.outputs();
  const float scale = float(2.0 * ranks / double(batch * samples_.outputs()));
  for (int64_t e = 0; e < elems; ++e) {
    const bool present = !std::isnan(y_[e]);
    const float error = present ? out[e] - y_[e] : 0.0f;
    grad_[e] = scale * error;
    loss.sum += double(error) * error;
    loss.count += present;
  }
  network_.backward(weights, x_.data(), n, grad_.data());
}

void FieldTask::evaluate(Weights& weights, const int64_t* items, int64_t n, Loss* losses) {
  const int64_t fields = samples_.outputs();
  samples_.assemble(items, n, x_.data(), y_.data());
  const float* out = network_.forward(weights, x_.data(), n);
  weights.finish(false);
  for (int64_t e = 0; e < n * fields; ++e)
    if (!std::isnan(y_[e])) {
      const double error = double(out[e]) - y_[e];
      losses[e % fields].sum += error * error;
      losses[e % fields].count += 1;
    }
}

std::vector<double> FieldTask::measure(const Loss* losses) const {
  std::vector<double> rmse;
  for (int f = 0; f < parts(); ++f)
    rmse.push_back(std::sqrt(losses[f].sum / losses[f].count) * measures_[f].deviation);
  return rmse;
}

std::vector<float> FieldTask::predict(Weights& weights, const std::vector<int64_t>& cells,
                                      int rank) {
  const int64_t fields = samples_.outputs(), rows = network_.max_rows();
  std::vector<float> result;
  for (int64_t done = 0; done < int64_t(cells.size()); done += rows) {
    const int64_t count = rank == 0 ? std::min<int64_t>(rows, int64_t(cells.size()) - done) : 0;
    samples_.assemble(cells.data() + done, count, x_.data(), nullptr);
    const float* out = network_.forward(weights, x_.data(), count);
    weights.finish(false);
    result.insert(result.end(), out, out + count * fields);
  }
  return result;
}

}  // namespace train
