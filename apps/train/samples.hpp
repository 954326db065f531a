// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Training and validation samples: one per grid cell and time at which a field was observed.
#pragma once
#include <cstdint>
#include <vector>

#include "grid.hpp"

namespace train {

class Samples {
 public:
  /// Normalises the fields by mean and deviation of the training cells.  A place (longitude,
  /// latitude) belongs to validation with all its times, by a hash of its indices.
  Samples(Grid grid, double holdout, int harmonics);

  const std::vector<int64_t>& training() const { return training_; }
  const std::vector<int64_t>& validation() const { return validation_; }
  const std::vector<Field>& fields() const { return grid_.fields; }
  const Grid& grid() const { return grid_; }
  int inputs() const { return lon_inputs_ + lat_inputs_ + time_inputs_; }
  int outputs() const { return int(grid_.fields.size()); }
  uint64_t fingerprint() const { return fingerprint_; }  // of values and split

  /// x [count x inputs], y [count x outputs] (NaN: missing; y may be null).
  void assemble(const int64_t* cells, int64_t count, float* x, float* y) const;

 private:
  void split(double holdout);
  void normalise();
  Grid grid_;
  std::vector<int64_t> training_, validation_;
  int lon_inputs_ = 0, lat_inputs_ = 0, time_inputs_ = 0;
  std::vector<float> lon_table_, lat_table_, time_table_;  // the inputs of each index
  uint64_t fingerprint_ = 0;
};

}  // namespace train
