// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "dtypes.hpp"
#include "results.hpp"

extern char** environ;

namespace perf {
namespace {

using nlohmann::json;

// The variables that change what is measured.  What Open MPI's launcher passes to its processes
// (addresses, session keys) is none of them and does not belong in a file that is passed on.
bool is_launchers(const std::string& text) {
  return text.rfind("OMPI_MCA_orte", 0) == 0 || text.rfind("OMPI_MCA_ess", 0) == 0;
}

json environment() {
  json variables = json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    for (const char* prefix :
         {"TIDE_", "MALLOC_", "OMPI_MCA_", "MPIR_CVAR_", "UCX_", "NCCL_", "CUDA_"})
      if (text.rfind(prefix, 0) == 0 && equals != std::string::npos && !is_launchers(text))
        variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return variables;
}

json row_json(const Row& row, const Result& result) {
  json j{{"name", row.name}, {"what", row.what}};
  if (!row.refused.empty()) {
    j["left_out"] = row.refused;
    return j;
  }
  const Summary& s = row.summary;
  const double tide = result.rows.front().summary.median;
  j["verified"] = true;
  j["workspace_bytes"] = row.workspace_bytes;
  j["median_s"] = s.median;
  j["min_s"] = s.min;
  j["max_s"] = s.max;
  j["quartiles_s"] = {s.lower_quartile, s.upper_quartile};
  j["algbw_bytes_per_s"] = static_cast<double>(result.full_bytes) / s.median;
  j["busbw_bytes_per_s"] = static_cast<double>(result.full_bytes) / s.median * result.bus_share;
  j["median_over_tide"] = s.median / tide;
  j["tide_over_median"] = tide / s.median;
  j["samples_s"] = row.seconds;
  return j;
}

json list_json(const ParamList& list) {
  json params = json::array();
  for (const Param& p : list.params)
    params.push_back({{"name", p.name},
                      {"rows", p.rows},
                      {"row_elems", p.row_elems},
                      {"block_rows", p.block_rows},
                      {"dtype", dtype_name(p.dtype)}});
  return {{"name", list.name},
          {"description", list.description},
          {"note", list.note},
          {"scale", list.scale},
          {"parameters", params}};
}

json result_json(const Result& r) {
  json rows = json::array();
  for (const Row& row : r.rows) rows.push_back(row_json(row, r));
  if (!r.overlap_rows.empty()) rows = overlap_json(r);
  if (!r.skew_rows.empty()) rows = skew_json(r);
  if (!r.beside_rows.empty()) rows = beside_json(r);
  if (!r.trace_rows.empty()) rows = trace_json(r);
  if (!r.displaced_rows.empty()) rows = displaced_json(r);
  json j{{"collective", r.collective},
         {"list", list_json(r.list)},
         {"full_bytes", r.full_bytes},
         {"shard_bytes", r.shard_bytes},
         {"rows", rows},
         {"report", r.report}};
  if (r.collective != "allgather") j["out_dtype"] = r.out_dtype;
  if (!r.progress.empty()) j["progress"] = r.progress;
  if (!r.inputs_rows.empty()) j["inputs"] = inputs_json(r);
  if (!r.first_calls.empty()) j["first_calls_s"] = r.first_calls;
  return j;
}

}  // namespace

json to_json(const Facts& f, const Options& o, const std::vector<Result>& results) {
  json list = json::array();
  for (const Result& r : results) list.push_back(result_json(r));
  return {{"command", f.command},
          {"started", f.started},
          {"tide_version", f.tide},
          {"mpi", f.mpi},
          {"ranks", f.ranks},
          {"nodes", f.nodes},
          {"uniform", f.uniform},
          {"fake_nodes", f.fake_nodes},
          {"thread_multiple", f.thread_multiple},
          {"devices", f.devices},
          {"cuda", f.cuda},
          {"nccl", f.nccl},
          {"environment", environment()},
          {"config", f.config},
          {"mode", o.overlap           ? "overlap"
                   : o.skewed()        ? "skew"
                   : !o.beside.empty() ? "beside"
                   : o.trace           ? "trace"
                   : o.displaced       ? "displaced"
                                       : "calls"},
          {"options",
           {{"skew_ms", o.skewed() ? o.skew_ms : 0},
            {"beside", o.beside},
            {"rates_gb_per_s", o.rates},
            {"test_every_us", o.test_every_us},
            {"in_process", o.in_process},
            {"reps", o.reps},
            {"warmup", o.warmup},
            {"seed", o.seed},
            {"memory", o.memory},
            {"share", o.share},
            {"dtype", o.dtype},
            {"out_dtype", o.out_dtype}}},
          {"results", list}};
}

}  // namespace perf
