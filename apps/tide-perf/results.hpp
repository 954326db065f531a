// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "contest.hpp"
#include "displaced_blocks.hpp"
#include "options.hpp"
#include "statistics.hpp"
#include "trace_figures.hpp"

// What was found, as plain values: the table and the JSON file print them.
namespace perf {

struct Row {
  std::string name, what, refused;
  std::int64_t workspace_bytes = 0;
  std::vector<double> seconds;
  Summary summary;
};

struct OverlapKernel {  // one operation behind one computation
  std::string name;
  int slices = 0;
  std::vector<double> compute, overlapped;
  double compute_s = 0, overlapped_s = 0, hidden = 0;  // medians, and the share of the operation
};

struct OverlapRow {
  std::string name, what, refused;
  std::vector<double> alone;
  double alone_s = 0;
  std::vector<OverlapKernel> kernels;
};

struct InputsRow {  // a reduce-scatter with one value of tide_workspace_bytes
  std::string asked, refused;
  std::int64_t workspace_bytes = 0;
  std::vector<double> inputs, whole;  // seconds until wait_inputs and until wait returned
  double share = 0;
};

struct SkewRow {
  std::string name, what, refused;
  std::vector<double> arrival, total, prompt;  // of the last rank; prompt: none was late
  double arrival_s = 0, total_s = 0, prompt_s = 0, surplus_s = 0;
};

struct BesideRow {  // one way of the call beside one victim, which is timed alone in turn
  std::string victim, name, what, refused;
  double victim_flops = 0;            // of one victim
  double asked_bytes_per_s = 0;       // delivered, of --rate; 0: calls back to back
  std::vector<double> alone, beside;  // of the victim, the slowest rank's
  std::vector<double> bytes_per_s;    // of the list, beside the victim
  std::vector<double> call_alone;     // seconds of a call alone
};

struct TraceRow {
  std::string name, what, refused;
  std::vector<TraceFigures> ranks;          // medians over the calls, by rank
  TraceFigures busiest{};                   // the largest of those
  std::map<std::string, int> kernel_names;  // of rank 0's last call, with their counts
};

struct DisplacedRow {  // one way of the call beside the probe's blocks, which run alone in turn
  std::string name, what, refused;
  Displaced alone, beside;                          // of all ranks and repetitions
  std::vector<double> victim_alone, victim_beside;  // of all launches, the slowest rank's
  std::vector<double> bytes_per_s;                  // of the list, beside the blocks
};

struct Result {
  std::string collective;  // allgather or reduce-scatter
  ParamList list;
  std::int64_t full_bytes = 0, shard_bytes = 0;
  double bus_share = 0;  // busbw over algbw: the share of the bytes that comes from others
  std::string out_dtype;
  std::vector<Row> rows;  // the library first
  std::vector<double> first_calls;
  std::string progress;                  // of --overlap: poll or thread
  std::vector<OverlapRow> overlap_rows;  // instead of rows, with --overlap
  std::vector<InputsRow> inputs_rows;
  std::vector<SkewRow> skew_rows;            // instead of rows, with --skew
  std::vector<BesideRow> beside_rows;        // instead of rows, with --beside
  std::vector<TraceRow> trace_rows;          // instead of rows, with --trace
  std::vector<DisplacedRow> displaced_rows;  // instead of rows, with --displaced
  std::string probe;                         // with --displaced: its launches in words
  nlohmann::json report;  // the library's, whatever it holds; null if it could not be read
};

struct Facts {
  std::vector<std::string> command;
  std::string mpi, tide, started;
  std::vector<std::string> devices;  // of each rank, with --memory cuda
  std::string cuda, nccl;            // versions; nccl: empty if it is not used
  int ranks = 0, nodes = 0, local_size = 0;
  bool uniform = true, fake_nodes = false;
  bool thread_multiple = false;  // MPI gave MPI_THREAD_MULTIPLE
  nlohmann::json config;
};

/// Collective (topology).
Facts gather_facts(MPI_Comm comm, const gpu::Session& gpu, int argc, char** argv);

/// The report's words on one collective in one line, from whatever keys it has.
std::string report_line(const nlohmann::json& report, const std::string& collective);

/// The machine's block at the top, and one block per result.
std::string facts_text(const Facts& facts, const Options& options);
std::string result_text(const Result& result);

/// The rows of a mode: of --overlap, --skew, --beside, --trace and --displaced, empty where there
/// are none.
std::string overlap_text(const Result& result);
std::string skew_text(const Result& result);
std::string beside_text(const Result& result);
std::string trace_text(const Result& result);
std::string displaced_text(const Result& result);
nlohmann::json overlap_json(const Result& result);
nlohmann::json inputs_json(const Result& result);
nlohmann::json skew_json(const Result& result);
nlohmann::json beside_json(const Result& result);
nlohmann::json trace_json(const Result& result);
nlohmann::json displaced_json(const Result& result);

nlohmann::json to_json(const Facts& facts, const Options& options,
                       const std::vector<Result>& results);

}  // namespace perf
