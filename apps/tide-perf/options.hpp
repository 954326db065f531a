// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tool.hpp"

namespace perf {

struct Options {
  std::vector<std::string> collectives{"allgather", "reduce-scatter"};
  std::vector<std::string> models{"llama70b"};
  std::vector<std::string> baselines{"all"};
  std::string list_file, fake_nodes, json_file;
  std::string share = "none", memory = "tide", dtype = "bf16", out_dtype = "auto";
  int in_process = 0;         // ranks of one node in one process; 0: a process is a rank
  std::string device;         // of --memory cuda:K; empty: each rank's own
  std::string beside;         // what runs beside the calls: gemm, or gemm:MxNxK
  std::vector<double> rates;  // of --beside, in GB/s; none: calls back to back
  bool displaced = false;     // which blocks of a kernel the calls displace
  bool trace = false;         // what the calls make the device do
  double scale = 0, mib = 0;  // 0: not given
  int reps = 20, warmup = 3;
  std::uint64_t seed = 1;
  bool first_calls = false;
  bool step_memory = false;  // a table instead of a run
  bool overlap = false;
  double test_every_us = 100;
  std::vector<std::string> workspaces;  // of --overlap: bytes, min or auto
  double skew_ms = -1;                  // negative: ranks are not made late

  bool skewed() const { return skew_ms >= 0; }
  bool on_device() const { return memory == "cuda"; }
  const char* kernels_for() const;  // the option that needs kernels of a GPU, or null
  bool has_baseline(const std::string& name) const;
  bool has_collective(const std::string& name) const;
};

tools::Parsed parse_options(int argc, char** argv, Options& options);

/// "2x3" (nodes x ranks) or "0,0,1,1": the value for TIDE_FAKE_NODES.  Throws
/// std::invalid_argument on anything else.
std::string fake_nodes_list(const std::string& spec);

/// "64K", "16M", "min" or "auto": bytes as digits, or the word.  Throws std::invalid_argument.
std::string workspace_bytes(const std::string& spec);

}  // namespace perf
