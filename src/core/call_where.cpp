// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Where a call stands, for those who wait too long for it.
#include "core/call.hpp"

namespace tide {

Where Call::where(std::vector<int>& missing) const {
  const Topology& t = context_.topology();
  Where w{work_.call, -1, -1, phase_, 0, arguments_.reduce};
  const auto awaits = [&](int rank) { missing.push_back(t.comm_rank(rank)); };
  const int n = context_.node(), l = t.local(context_.rank());
  if (phase_ == Phase::lines || phase_ == Phase::exit) {
    for (int h = 0; h < node().size(); h++) {
      const ControlBlock& block = node().block(h);
      const auto& call =
          phase_ == Phase::lines ? block.entry[work_.slot].call : block.exit[work_.slot].call;
      if (call.load(std::memory_order_acquire) < work_.call) awaits(t.rank(n, h));
    }
  } else if (phase_ == Phase::records || phase_ == Phase::end_records) {
    if (1 << round_ < t.nodes()) awaits(t.rank((n + (1 << round_)) % t.nodes(), l));
  } else if (phase_ == Phase::outcome || phase_ == Phase::end_outcome) {
    awaits(t.rank(n, l % t.rails()));
  } else if (phase_ == Phase::lanes) {
    for (Lane lane : {Lane::rail, Lane::sum, Lane::copy}) {
      const auto& ops = work_.plan->lanes[static_cast<size_t>(lane)];
      const size_t at = work_.lanes[static_cast<size_t>(lane)].op;
      const Wait* wait = at < ops.size() ? std::get_if<Wait>(&ops[at]) : nullptr;
      if (!wait || wait->peer == context_.rank()) continue;
      if (missing.empty())
        w.lane = static_cast<uint8_t>(lane), w.index = static_cast<int16_t>(wait->index);
      awaits(wait->peer);
    }
  }
  if (missing.empty() && work_.rail && phase_ != Phase::queued)
    if (const int peer = work_.rail->awaited(work_.slot); peer >= 0) awaits(peer);
  if (!missing.empty()) w.peer = missing.front();
  return w;
}

}  // namespace tide
