// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace perf {

struct Summary {
  double min = 0, lower_quartile = 0, median = 0, upper_quartile = 0, max = 0;
};

/// Quantiles by linear interpolation between order statistics; zeros for no samples.
Summary summarise(std::vector<double> samples);

/// One of them, 0 <= q <= 1; 0 for no samples.
double quantile(std::vector<double> samples, double q);

}  // namespace perf
