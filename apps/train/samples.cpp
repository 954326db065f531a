// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "samples.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "failure.hpp"
#include "random.hpp"

namespace train {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// sin and cos of 1 .. harmonics turns per period, for each angle (in turns).
std::vector<float> periodic(const std::vector<double>& turns, int harmonics) {
  std::vector<float> table;
  for (double t : turns)
    for (int k = 1; k <= harmonics; ++k) {
      table.push_back(static_cast<float>(std::sin(kTurn * k * t)));
      table.push_back(static_cast<float>(std::cos(kTurn * k * t)));
    }
  return table;
}

std::vector<double> turns_of(std::vector<double> degrees) {
  for (double& d : degrees) d /= 360;
  return degrees;
}

}  // namespace

Samples::Samples(Grid grid, double holdout, int harmonics) : grid_(std::move(grid)) {
  split(holdout);
  normalise();
  lon_table_ = periodic(turns_of(grid_.lon), harmonics);
  lat_table_ = periodic(turns_of(grid_.lat), harmonics);
  lon_inputs_ = lat_inputs_ = 2 * harmonics;
  if (grid_.year_fraction.size() < 2) return;
  // Twelve months carry little beyond the third harmonic.  A record of several years also gets
  // its position, so that one January may differ from another.
  const int seasons = 3;
  const bool several_years = grid_.record_years > 1.5;
  const std::vector<float> season = periodic(grid_.year_fraction, seasons);
  time_inputs_ = 2 * seasons + several_years;
  for (size_t t = 0; t < grid_.year_fraction.size(); ++t) {
    time_table_.insert(time_table_.end(), &season[t * 2 * seasons],
                       &season[t * 2 * seasons] + 2 * seasons);
    if (several_years)
      time_table_.push_back(float(2 * grid_.year_fraction[t] / grid_.record_years - 1));
  }
}

void Samples::split(double holdout) {
  const int64_t places = int64_t(grid_.lat.size() * grid_.lon.size());
  const int64_t fields = outputs();
  for (int64_t cell = 0; cell < grid_.cells(); ++cell) {
    const float* values = &grid_.values[cell * fields];
    uint64_t hash = fingerprint_;
    for (int64_t f = 0; f < fields; ++f) hash = mix(hash + std::bit_cast<uint32_t>(values[f]));
    fingerprint_ = hash;
    if (std::all_of(values, values + fields, [](float v) { return std::isnan(v); })) continue;
    const uint64_t place = uint64_t(cell % places) + 1;
    const bool held_out = unit_interval(mix(place * 0x9e3779b97f4a7c15ull)) < holdout;
    (held_out ? validation_ : training_).push_back(cell);
  }
  if (training_.empty() || validation_.empty())
    throw AgreedError("too few observed cells: training or validation is empty (see --holdout)");
  fingerprint_ = mix(fingerprint_ + training_.size());
}

void Samples::normalise() {
  const int64_t fields = outputs();
  for (int64_t f = 0; f < fields; ++f) {
    double sum = 0, squares = 0, count = 0;
    for (int64_t cell : training_)
      if (const double v = grid_.values[cell * fields + f]; !std::isnan(v)) sum += v, ++count;
    if (count == 0)
      throw AgreedError("field '" + grid_.fields[f].name +
                        "' is missing in every training cell; leave it out of --vars");
    const double mean = sum / count;
    for (int64_t cell : training_)
      if (const double v = grid_.values[cell * fields + f]; !std::isnan(v))
        squares += (v - mean) * (v - mean);
    const double deviation = squares > 0 ? std::sqrt(squares / count) : 1;
    grid_.fields[f].mean = mean;
    grid_.fields[f].deviation = deviation;
    for (int64_t cell = 0; cell < grid_.cells(); ++cell) {
      float& v = grid_.values[cell * fields + f];
      v = static_cast<float>((v - mean) / deviation);
    }
  }
}

void Samples::assemble(const int64_t* cells, int64_t count, float* x, float* y) const {
  const int64_t lons = int64_t(grid_.lon.size()), lats = int64_t(grid_.lat.size());
  for (int64_t n = 0; n < count; ++n) {
    const int64_t cell = cells[n], i = cell % lons, j = cell / lons % lats, t = cell / lons / lats;
    x = std::copy_n(&lon_table_[i * lon_inputs_], lon_inputs_, x);
    x = std::copy_n(&lat_table_[j * lat_inputs_], lat_inputs_, x);
    if (time_inputs_ > 0) x = std::copy_n(&time_table_[t * time_inputs_], time_inputs_, x);
    if (y) y = std::copy_n(&grid_.values[cell * outputs()], outputs(), y);
  }
}

}  // namespace train
