// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Fields of a grid as a function of place and season, learnt by a perceptron.
#pragma once
#include "network.hpp"
#include "samples.hpp"
#include "task.hpp"

namespace train {

class FieldTask : public Task {
 public:
  FieldTask(const Samples& samples, const Options& options);
  const Architecture& architecture() const override { return architecture_; }
  const std::vector<int64_t>& training() const override { return samples_.training(); }
  const std::vector<int64_t>& validation() const override { return samples_.validation(); }
  const std::vector<Measure>& measures() const override { return measures_; }
  nlohmann::json identity() const override;
  std::string describe() const override;
  int64_t max_items() const override { return network_.max_rows(); }
  int64_t bytes() const override;
  void gradient(Weights& weights, const int64_t* items, int64_t n, int64_t batch, int ranks,
                Loss& loss) override;
  void evaluate(Weights& weights, const int64_t* items, int64_t n, Loss* losses) override;
  int parts() const override { return samples_.outputs(); }
  std::vector<double> measure(const Loss* losses) const override;
  /// Collective: the fields (normalised), [cells x outputs], on `rank` 0.
  std::vector<float> predict(Weights& weights, const std::vector<int64_t>& cells, int rank);

 private:
  const Samples& samples_;
  const Options& options_;
  Architecture architecture_;
  Network network_;
  std::vector<Measure> measures_;
  std::vector<float> x_, y_, grad_;
};

}  // namespace train
