// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What the command line says.  Every rank parses the same arguments and comes to the same result.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tool.hpp"

namespace train {

enum class Models { compare, sharded, reference };
enum class Model { perceptron, transformer };
enum class Activation { silu, gelu, tanh };

struct Options {
  std::string data = "/usr/share/ferret-vis/data/coads_climatology.cdf";
  std::vector<std::string> vars = {"SST", "AIRT", "SPEH", "WSPD", "UWND", "VWND", "SLP"};
  double holdout = 0.1;  // part of the grid cells kept for validation
  int harmonics = 8;     // of longitude and of latitude; the season has at most three

  Model model = Model::perceptron;
  std::string text;  // the transformer's; empty: a field of the data
  int context = 64, heads = 4;
  int width = 256;
  int depth = 4;  // hidden layers, or blocks
  Activation activation = Activation::silu;

  Models models = Models::compare;
  bool stock = false;            // stock collectives instead of Tide
  bool slot_reuse = false;       // the pipeline's mode
  int prefetch = 1;              // visits
  int replicas = 1;              // of the sharded model
  bool exact_reference = false;  // its weights are not rounded to bf16
  bool node_shared = false;      // one copy of the gathered layers per node
  int batch = 1024;              // over all ranks: samples, or sequences
  int epochs = 20;
  int64_t steps = 0;  // 0: epochs decide
  double lr = 3e-3;
  double weight_decay = 1e-2;
  double clip = 0;  // largest norm of the gradient; 0: any
  uint64_t seed = 1;

  std::string checkpoint;
  int checkpoint_every = 5;  // epochs
  int stop_after = 0;        // epochs of this run; 0: to the end

  std::string out = "tide-train";
  bool plot = true;
  bool step_log = false;
  double tolerance_percent = 0;  // compare: larger differences are a failure; 0: never
};

tools::Parsed parse_options(int argc, char** argv, Options& options);

}  // namespace train
