// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "results.hpp"

namespace perf {
namespace {

constexpr int bar_chars = 28;
constexpr double mib = 1024.0 * 1024.0;

// Long enough to compare, never absent: a row with a time has at least one character.
std::string bar(double value, double longest) {
  if (!(longest > 0)) return "";
  const int chars = std::max(1, static_cast<int>(bar_chars * value / longest + 0.5));
  return std::string(static_cast<std::size_t>(chars), '#');
}

std::string row_text(const Row& row, const Result& result, double longest) {
  if (!row.refused.empty()) return fmt::format("  {:<14} {}\n", row.name, row.refused);
  const double tide = result.rows.front().summary.median;
  const double gbps = static_cast<double>(result.full_bytes) / row.summary.median / 1e9;
  return fmt::format("  {:<10} {:>10.3f} {:>10.3f} {:>10.2f} {:>10.2f} {:>8.2f}x {:>10.2f}  {}\n",
                     row.name, row.summary.median * 1e3, row.summary.min * 1e3, gbps,
                     gbps * result.bus_share, row.summary.median / tide,
                     static_cast<double>(row.workspace_bytes) / mib,
                     bar(row.summary.median, longest));
}

// One sentence that says how tide stands.
std::string verdict(const Result& result) {
  const double tide = result.rows.front().summary.median;
  std::string best;
  double best_median = 0, limit = 0;
  const char* bound = "";
  for (const Row& row : result.rows) {
    if (!row.refused.empty() || row.name == "tide") continue;
    if (row.name == "limit" || row.name == "plain") {
      limit = row.summary.median;
      bound = row.name == "limit" ? "the limit's" : "the plain copies'";
    } else if (best.empty() || row.summary.median < best_median) {
      best = row.name;
      best_median = row.summary.median;
    }
  }
  std::string text;
  if (!best.empty())
    text = fmt::format("  tide takes {:.2f} of the time of {}, the best baseline",
                       tide / best_median, best);
  if (limit > 0)
    text += fmt::format("{}{:.2f} of {}", text.empty() ? "  tide takes " : ", and ", tide / limit,
                        bound);
  return text.empty() ? "" : text + "\n";
}

std::string calls_text(const Result& r) {
  if (r.rows.empty()) return "";
  double longest = 0;
  for (const Row& row : r.rows) longest = std::max(longest, row.summary.median);
  std::string text =
      fmt::format("  {:<10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>10}\n", "", "median ms", "min ms",
                  "algbw GB/s", "busbw GB/s", "vs tide", "extra MiB");
  for (const Row& row : r.rows) text += row_text(row, r, longest);
  return text + verdict(r);
}

// One line of what is done to the calls.
std::string mode_text(const Facts& f, const Options& o) {
  if (o.overlap)
    return fmt::format(
        "overlap: hidden = 1 - (overlapped - compute) / alone; test every {:g} us of computation\n"
        "{}",
        o.test_every_us,
        f.thread_multiple ? ""
                          : "this MPI does not give MPI_THREAD_MULTIPLE: between nodes "
                            "tide_progress=thread is refused\n");
  if (o.in_process > 0)
    return fmt::format(
        "in-process: the plans of {} ranks of one node, by one thread of this process each\n",
        o.in_process);
  if (o.skewed())
    return fmt::format("skew: every rank is late by a random 0 to {:g} ms in each call\n",
                       o.skew_ms);
  return "";
}

std::string devices_text(const Facts& f) {
  std::string text;
  for (std::size_t rank = 0; rank < f.devices.size(); ++rank)
    text += fmt::format("{}rank {}: {}", rank == 0 ? "device of " : ", ", rank, f.devices[rank]);
  if (text.empty()) return "";
  text += fmt::format("\n{}", f.cuda);
  if (!f.nccl.empty()) text += "; NCCL " + f.nccl;
  return text + "\n";
}

}  // namespace

std::string facts_text(const Facts& f, const Options& o) {
  std::string nodes = fmt::format("{} node{}", f.nodes, f.nodes == 1 ? "" : "s");
  if (f.nodes > 1) nodes += f.uniform ? fmt::format(" of {}", f.local_size) : " (uneven)";
  if (f.fake_nodes) nodes += " (TIDE_FAKE_NODES)";
  return fmt::format(
      "tide-perf {}   {}   {} rank{} on {}   {}\n"
      "{} repetitions after {}, order shuffled (seed {}); memory {}, share {}\n{}",
      f.tide, f.mpi, f.ranks, f.ranks == 1 ? "" : "s", nodes, f.started, o.reps, o.warmup, o.seed,
      o.memory, o.share, devices_text(f) + mode_text(f, o));
}

std::string result_text(const Result& r) {
  std::string text =
      fmt::format("\n{}   {}: {}\n{} parameters, {:.2f} MiB, {:.2f} MiB a rank{}{}\n", r.collective,
                  r.list.name, r.list.description, r.list.params.size(),
                  static_cast<double>(r.full_bytes) / mib, static_cast<double>(r.shard_bytes) / mib,
                  r.list.scale == 1 ? "" : fmt::format(", hidden sizes x {:.4g}", r.list.scale),
                  r.collective == "allgather" ? "" : ", output " + r.out_dtype);
  if (r.progress == "thread")
    text += "by the progress thread, which serves this process from here on\n";
  if (!r.list.note.empty()) text += fmt::format("note: {}\n", r.list.note);
  text += calls_text(r) + overlap_text(r) + skew_text(r) + beside_text(r) + trace_text(r) +
          displaced_text(r);
  if (!r.first_calls.empty())
    text += fmt::format("  first call {:.3f} ms, hundredth {:.3f} ms\n",
                        r.first_calls.front() * 1e3, r.first_calls.back() * 1e3);
  const std::string report = report_line(r.report, r.collective);
  if (!report.empty()) text += fmt::format("  {}\n", report);
  return text + "  Pass: verified before and after timing\n";
}

}  // namespace perf
