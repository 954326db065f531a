// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "agreement.hpp"
#include "dtypes.hpp"
#include "gpu/baselines.hpp"
#include "gpu/beside.hpp"
#include "gpu/displaced.hpp"
#include "gpu/in_process.hpp"
#include "gpu/trace.hpp"
#include "group.hpp"
#include "measure.hpp"
#include "modes.hpp"
#include "prepare.hpp"
#include "query.hpp"

namespace perf {
namespace {

constexpr double default_mib = 64;

bool has_dtype(const ParamList& list, int dtype) {
  return std::any_of(list.params.begin(), list.params.end(),
                     [&](const Param& p) { return p.dtype == dtype; });
}

int out_dtype_of(const Options& o, const ParamList& list) {
  if (o.out_dtype == "auto") return has_dtype(list, MPIX_TIDE_FP64) ? 0 : MPIX_TIDE_FP32;
  return dtype_from_name(o.out_dtype);  // own: 0
}

// Which outputs a reduction may have, said before the library has to refuse it.
void check_out_dtype(const Options& o, const ParamList& list) {
  const int out = out_dtype_of(o, list);
  for (const Param& p : list.params) {
    const bool half = p.dtype == MPIX_TIDE_BF16 || p.dtype == MPIX_TIDE_FP16;
    std::string problem;
    if (p.dtype == MPIX_TIDE_UINT8)
      problem = "uint8 gradients cannot be reduced; use --collective allgather";
    else if ((out == MPIX_TIDE_FP64 && half) ||
             (out == MPIX_TIDE_FP32 && p.dtype == MPIX_TIDE_FP64))
      problem = fmt::format("{} gradients cannot be reduced to {}; use --out-dtype own",
                            dtype_name(p.dtype), dtype_name(out));
    if (!problem.empty())
      throw std::invalid_argument(fmt::format("{}, parameter {}: {}", list.name, p.name, problem));
  }
}

std::vector<Contestant> contestants_of(const Options& o, Workload& w, bool allgather) {
  struct Entry {
    const char* name;
    Contestant (*allgather)(Workload&);
    Contestant (*reduce_scatter)(Workload&);
  };
  const Entry entries[] = {{"stock", stock_allgather, stock_reduce_scatter},
                           {"flat", flat_allgather, flat_reduce_scatter},
                           {"per-param", per_param_allgather, per_param_reduce_scatter},
                           {"a2a", nullptr, a2a_reduce_scatter},
                           {"limit", limit_allgather, limit_reduce_scatter}};
  std::vector<Contestant> all{allgather ? tide_allgather(w) : tide_reduce_scatter(w)};
  if (o.on_device()) {
    for (Contestant& c : gpu::baselines(o, w, allgather)) all.push_back(std::move(c));
    return all;
  }
  for (const Entry& e : entries) {
    const auto make = allgather ? e.allgather : e.reduce_scatter;
    // The limit waits for no rank: late ones mean nothing to it.
    const bool limit_of_late = o.skewed() && std::string(e.name) == "limit";
    if (make != nullptr && o.has_baseline(e.name) && !limit_of_late) all.push_back(make(w));
  }
  return all;
}

// The ordinary mode: each call by itself.
void measure_calls(const Options& o, Workload& w, const std::vector<Contestant>& contestants,
                   Result& result) {
  Progress progress(w.rank);
  // Before any other call of the library on these buffers, else the first would not be the first.
  if (o.first_calls) result.first_calls = measure_first(w.comm, contestants.front(), 100);
  verify_all(w.comm, contestants, "before timing");
  const auto samples = measure(w.comm, contestants, o.warmup, o.reps, o.seed, progress);
  verify_all(w.comm, contestants, "after timing");
  for (std::size_t c = 0; c < contestants.size(); ++c)
    result.rows.push_back({contestants[c].name, contestants[c].what, contestants[c].refused,
                           contestants[c].workspace_bytes, samples[c], summarise(samples[c])});
}

auto measure_of(const Options& o) {
  return o.trace             ? gpu::measure_trace
         : o.displaced       ? gpu::measure_displaced
         : !o.beside.empty() ? gpu::measure_beside
         : o.skewed()        ? measure_skew
                             : measure_calls;
}

Result result_of(const Workload& w, bool allgather) {
  Result result{allgather ? "allgather" : "reduce-scatter", *w.list};
  result.full_bytes = w.list->full_bytes();
  result.bus_share = (w.layout.ranks() - 1.0) / w.layout.ranks();
  result.shard_bytes = w.layout.packed_offsets(0).back();
  result.out_dtype = w.out_dtype == 0 ? "own" : dtype_name(w.out_dtype);
  return result;
}

// `w` is of the process, which is the job, and `ranks` are those in it.
Result run_in_process(const Options& o, Workload& w, bool allgather) {
  std::vector<Workload> ranks(static_cast<std::size_t>(o.in_process), w);
  check_memory(o, w, allgather);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    ranks[r].rank = static_cast<int>(r);
    ranks[r].ranks = o.in_process;
    (allgather ? fill_allgather : fill_reduce_scatter)(ranks[r]);
  }
  std::vector<Contestant> contestants{gpu::tide_in_process(ranks, allgather)};
  for (Contestant& c : gpu::in_process_baselines(o, ranks, allgather))
    contestants.push_back(std::move(c));
  Result result = result_of(w, allgather);
  measure_of(o)(o, w, contestants, result);
  result.report = {{"path", "cuda-direct"}};
  return result;
}

Result run_one(const Options& o, Workload& w, bool allgather, const std::string& progress) {
  check_memory(o, w, allgather);
  (allgather ? fill_allgather : fill_reduce_scatter)(w);
  Result result = result_of(w, allgather);
  result.progress = progress;
  if (o.overlap)
    measure_overlap(o, w, allgather, result);
  else
    measure_of(o)(o, w, contestants_of(o, w, allgather), result);
  result.report = tools::read_group_report(w.group);
  return result;
}

}  // namespace

std::vector<ParamList> lists_of(const Options& o, MPI_Comm comm) {
  const int dtype = dtype_from_name(o.dtype);
  std::vector<ParamList> lists;
  if (!o.list_file.empty()) {
    lists.push_back(parse_list(o.list_file, read_on_root(comm, o.list_file), dtype));
  } else {
    for (const std::string& name : o.models) {
      const double mib = o.mib > 0 ? o.mib : default_mib;
      lists.push_back(model_list(name, o.scale > 0 ? o.scale : scale_for_mib(name, mib), dtype));
      const double whole =
          static_cast<double>(model_list(name, 1, MPIX_TIDE_BF16).full_bytes()) / (1 << 20);
      if (o.mib > whole)
        lists.back().note = fmt::format(
            "--mib {:g} is more than the list has: run at its real size, {:.4g} MiB of bf16", o.mib,
            whole);
    }
  }
  for (const ParamList& list : lists)
    if (o.has_collective("reduce-scatter")) check_out_dtype(o, list);
  return lists;
}

namespace {

struct Job {
  const gpu::Session& gpu;
  MPI_Comm tide_comm;
};

// Whatever the environment says.
Keys group_keys(const Options& o, const gpu::Session& gpu) {
  if (o.on_device()) return {{"tide_device", std::to_string(gpu.device)}};
  return o.overlap ? Keys{{"tide_progress", "poll"}} : Keys{};
}

void run_list(const Options& o, const Job& job, const ParamList& list, const std::string& progress,
              std::vector<Result>& results) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPIX_Tide_topology topology{};
  tools::check_tide(MPIX_Tide_comm_topology(job.tide_comm, &topology), "MPIX_Tide_comm_topology");
  const bool in_process = o.in_process > 0;
  const Group group =
      in_process ? nullptr : make_group(job.tide_comm, list, group_keys(o, job.gpu));
  const int out_dtype = out_dtype_of(o, list);
  const bool wide = out_dtype == MPIX_TIDE_FP64 || has_dtype(list, MPIX_TIDE_FP64);
  for (const bool allgather : {true, false}) {
    if (!o.has_collective(allgather ? "allgather" : "reduce-scatter")) continue;
    // Made anew for each collective, so that only one's buffers exist at a time.
    Workload w{MPI_COMM_WORLD, job.tide_comm, rank,
               ranks,          &list,         Layout(list, in_process ? o.in_process : ranks),
               group.get(),    topology,      o.share,
               o.memory,       out_dtype,     wide ? MPIX_TIDE_FP64 : MPIX_TIDE_FP32};
    w.gpu = &job.gpu;
    results.push_back(in_process ? run_in_process(o, w, allgather)
                                 : run_one(o, w, allgather, progress));
    if (rank == 0) fmt::print("{}", result_text(results.back()));
    std::fflush(stdout);
  }
}

}  // namespace

std::vector<Result> run_all(const Options& o, const gpu::Session& gpu, MPI_Comm tide_comm) {
  std::vector<Result> results;
  const std::vector<ParamList> lists = lists_of(o, MPI_COMM_WORLD);
  const std::vector<std::string> ways =
      o.overlap ? std::vector<std::string>{"poll", "thread"} : std::vector<std::string>{""};
  for (const std::string& progress : ways)
    for (const ParamList& list : lists) run_list(o, {gpu, tide_comm}, list, progress, results);
  return results;
}

}  // namespace perf
