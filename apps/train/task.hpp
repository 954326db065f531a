// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a trainer trains: items (samples, or pieces of text), a model, a loss.  Each trainer has a
// task of its own, as a task keeps the model's activations.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "weights.hpp"

namespace train {

/// A sum over elements of a loss, and how many elements.
struct Loss {
  double sum = 0, count = 0;
};

/// A value of the validation, in units that say something: a column of the table.
struct Measure {
  std::string name, units;
  double deviation;  // of a field; 0: means nothing here
};

class Task {
 public:
  virtual ~Task() = default;
  virtual const Architecture& architecture() const = 0;
  virtual const std::vector<int64_t>& training() const = 0;
  virtual const std::vector<int64_t>& validation() const = 0;
  virtual const std::vector<Measure>& measures() const = 0;
  /// What a checkpoint must agree with.
  virtual nlohmann::json identity() const = 0;
  virtual std::string describe() const = 0;
  virtual int64_t max_items() const = 0;  // of a call
  virtual int64_t bytes() const = 0;      // of activations and the like

  /// Collective.  This rank's part of a batch: items [n] of `batch` over `ranks`.  Leaves the
  /// gradient of the batch's mean loss in the pieces' grad, adds to `loss`.
  virtual void gradient(Weights& weights, const int64_t* items, int64_t n, int64_t batch, int ranks,
                        Loss& loss) = 0;
  /// Collective, n = 0 included: adds to losses [parts()].
  virtual void evaluate(Weights& weights, const int64_t* items, int64_t n, Loss* losses) = 0;
  virtual int parts() const = 0;
  /// [measures] from losses [parts()] over all ranks.
  virtual std::vector<double> measure(const Loss* losses) const = 0;
};

}  // namespace train
