// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>

#include "plan/plan.hpp"

namespace tide {

std::string index_name(int index) {
  static constexpr std::array<const char*, round_0> names = {
      "ready",    "done",     "inputs_read",   "staged",     "stage_free", "own_staged",
      "own_free", "gathered", "gathered_free", "arrived",    "summed",     "partial_free",
      "sent",     "credit",   "landed",        "layer_here", "layer_read", "granted"};
  return index < round_0 ? names[index] : fmt::format("round_{}", index - round_0);
}

namespace {

std::string text(int rank) { return rank == every_local ? "every_local" : std::to_string(rank); }
std::string text(const Region& p) {
  static constexpr std::array<const char*, 5> names = {"param", "shard", "stage", "landing",
                                                       "partial"};
  const std::string place =
      fmt::format("{}@{}", names[static_cast<size_t>(p.buffer)], text(p.rank));
  const bool by_interval = p.buffer == Buffer::param || p.buffer == Buffer::shard;
  return by_interval ? place : fmt::format("{}+{}", place, p.offset);
}
std::string text(const Interval& v) {
  return fmt::format("rank {} [{}, {})", v.rank, v.begin, v.end);
}
std::string based(const std::optional<Region>& base) { return base ? text(*base) + " + " : ""; }

std::string text(const Copy& c) {
  return fmt::format("copy {} <- {} of {}", text(c.dst), text(c.src), text(c.interval));
}
std::string text(const Put& p) {
  return fmt::format("put {} bytes {} <- {}, then {}", p.bytes, text(p.dst), text(p.src),
                     index_name(p.signal));
}
std::string text(const Signal& s) {
  std::string line = fmt::format("signal {} {}", text(s.peer), index_name(s.index));
  if (s.opens)
    line += fmt::format(", opens {} for {} bytes of {} by {}", text(s.opens->region),
                        s.opens->bytes, index_name(s.opens->signal), s.opens->chunk);
  return line;
}
std::string text(const Wait& w) {
  return fmt::format("wait {} {} {}", text(w.peer), index_name(w.index), w.until);
}
std::string text(const Sum& s) {
  static constexpr std::array<const char*, 3> orders = {"", " nested by node", " in rank order"};
  const std::string rows =
      s.rows == every_local ? "" : fmt::format(" {} rows by {}", s.rows, s.src.pitch);
  return fmt::format("sum {} <- {}{}{}{} of {}", text(s.dst), based(s.base), text(s.src), rows,
                     orders[static_cast<size_t>(s.order)], text(s.interval));
}
std::string text(const SwitchSum& s) {
  return fmt::format("switch_sum {} <- {}{} of {}", text(s.dst), based(s.base), text(s.src),
                     text(s.interval));
}

}  // namespace

std::string print(const Plan& plan) {
  static constexpr std::array<const char*, lane_count> lanes = {"copy", "rail", "sum "};
  std::string all = fmt::format(
      "workspace: stage {}, landing {}, partial {}; inputs end at {} {} {}; {}{} rounds, {} "
      "chunks, "
      "{} puts of {} bytes, {} bytes copied\n",
      plan.need.stage, plan.need.landing, plan.need.partial, plan.inputs[0], plan.inputs[1],
      plan.inputs[2], plan.raw ? "raw; " : "", plan.rounds, plan.chunks, plan.puts, plan.put_bytes,
      plan.copied_bytes);
  for (const Copy& copy : plan.before_entry) all += fmt::format("entry {}\n", text(copy));
  for (const EagerRound& round : plan.eager)
    all += fmt::format("entry sends stage [0, {}), takes [{}, {})\n", round.send, round.place,
                       round.place + round.receive);
  std::array<size_t, lane_count> at = {};
  for (const Lane lane : plan.emitted) {
    const size_t i = static_cast<size_t>(lane);
    const Op& op = plan.lanes[i][at[i]++];
    all += fmt::format("{}  {}\n", lanes[i],
                       std::visit([](const auto& one) { return text(one); }, op));
  }
  return all;
}

}  // namespace tide
