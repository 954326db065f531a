// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/where.hpp"

#include <fmt/format.h>

#include "plan/plan.hpp"

namespace tide {

static const char* name(Phase phase) {
  switch (phase) {
    case Phase::over:
      return "not in a call";
    case Phase::queued:
      return "queued behind earlier calls";
    case Phase::lines:
      return "entry, ranks of its node";
    case Phase::records:
      return "entry, other nodes";
    case Phase::outcome:
      return "entry, the local rank that carries its rail";
    case Phase::lanes:
      return "moving data";
    case Phase::exit:
      return "exit, ranks of its node";
    case Phase::end_records:
      return "end, other nodes";
    case Phase::end_outcome:
      return "end, the local rank that carries its rail";
    case Phase::setup:
      return "set-up";
  }
  return "?";
}

std::string words(const Where& w) {
  if (w.phase == Phase::over) return "in no call of this communicator";
  const std::string peer = w.peer >= 0 ? fmt::format(", waits for rank {}", w.peer) : "";
  if (w.phase == Phase::setup)
    return fmt::format("in {} (step {}){}", w.in == SetupCall::none ? "set-up" : name(w.in), w.call,
                       peer);
  std::string text =
      fmt::format("in {} (call {}): {}", w.reduce ? "a reduce-scatter" : "an all-gather", w.call,
                  name(w.phase));
  if (w.phase == Phase::lanes) {
    static const char* lanes[] = {"copy", "rail", "sum"};
    text += fmt::format(", {} lane", lanes[w.lane % lane_count]);
    if (w.index >= 0) text += fmt::format(", signal {}", index_name(w.index));
  }
  return text + peer;
}

}  // namespace tide
