// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a run leaves behind: a table, maps, and a picture drawn by gnuplot.
#pragma once
#include <string>
#include <vector>

#include "samples.hpp"
#include "trainer.hpp"

namespace train {

/// OUT.csv: one line per epoch; nothing in it depends on time, so equal runs give equal files.
void write_csv(const Options& options, const std::vector<Trainer*>& trainers);

/// Collective: OUT.steps.csv, the loss of every step of this run, where --step-log asks for it.
void write_steps(MPI_Comm comm, const Options& options, const std::vector<Trainer*>& trainers);

/// OUT.map.csv: the first field at the first time, observed and predicted.
void write_map(const Options& options, const Samples& samples, const std::vector<int64_t>& cells,
               const std::vector<float>& predicted);

/// OUT.gp, a gnuplot script for OUT.png: curves, and maps unless samples is NULL.
void write_script(const Options& options, const Samples* samples,
                  const std::vector<Trainer*>& trainers);

/// Collective: OUT.time.csv, where the time of a step went, and OUT.time.gp, a gnuplot script for
/// OUT.time.png.  plot: the script, too.
void write_times(MPI_Comm comm, const Options& options, const std::vector<Trainer*>& trainers,
                 bool plot);

/// Runs gnuplot on OUT.gp and OUT.time.gp; false (with a message) where there is none or it fails.
bool draw(const Options& options);

}  // namespace train
