// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "plan/blocks.hpp"

namespace tide {

void total_up(Plan& plan, Buffer input, int local_ranks) {
  for (const Copy& copy : plan.before_entry) plan.copied_bytes += copy.interval.size();
  for (const EagerRound& round : plan.eager) {
    plan.puts += round.send > 0;
    plan.put_bytes += round.send;
  }
  for (size_t lane = 0; lane < lane_count; lane++) {
    plan.inputs[lane] = 0;
    for (size_t i = 0; i < plan.lanes[lane].size(); i++) {
      const Op& op = plan.lanes[lane][i];
      const auto* copy = std::get_if<Copy>(&op);
      const auto* sum = std::get_if<Sum>(&op);
      if ((copy && copy->src.buffer == input) || (sum && sum->src.buffer == input))
        plan.inputs[lane] = i + 1;
      if (copy)
        plan.copied_bytes += copy->interval.size() *
                             static_cast<size_t>(copy->dst.rank == every_local ? local_ranks : 1);
      if (const auto* put = std::get_if<Put>(&op)) {
        plan.puts++;
        plan.put_bytes += put->bytes;
      }
    }
  }
}

}  // namespace tide
