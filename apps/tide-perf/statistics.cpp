// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace perf {

Summary summarise(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const auto quantile = [&](double q) {
    const double at = q * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(at));
    const std::size_t above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (at - std::floor(at)) * (samples[above] - samples[below]);
  };
  return {samples.front(), quantile(0.25), quantile(0.5), quantile(0.75), samples.back()};
}

}  // namespace perf
