// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "contest.hpp"
#include "options.hpp"
#include "statistics.hpp"

// What was found, as plain values: the table and the JSON file print them.
namespace perf {

struct Row {
  std::string name, what, refused;
  std::int64_t workspace_bytes = 0;
  std::vector<double> seconds;
  Summary summary;
};

struct Result {
  std::string collective;  // allgather or reduce-scatter
  ParamList list;
  std::int64_t full_bytes = 0, shard_bytes = 0;
  std::string out_dtype;
  std::vector<Row> rows;  // the library first
  std::vector<double> first_calls;
  nlohmann::json report;  // the library's, whatever it holds; null if it could not be read
};

struct Facts {
  std::vector<std::string> command;
  std::string mpi, tide, started;
  int ranks = 0, nodes = 0, local_size = 0;
  bool uniform = true, fake_nodes = false;
  nlohmann::json config;
};

/// Collective (topology).
Facts gather_facts(MPI_Comm comm, int argc, char** argv);

/// The report's words on one collective in one line, from whatever keys it has.
std::string report_line(const nlohmann::json& report, const std::string& collective);

/// The machine's block at the top, and one block per result.
std::string facts_text(const Facts& facts, const Options& options);
std::string result_text(const Result& result);

nlohmann::json to_json(const Facts& facts, const Options& options,
                       const std::vector<Result>& results);

}  // namespace perf
