// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpix_tide.h>

#include <cstdint>
#include <string>
#include <vector>

// What is gathered and reduced: a named list of parameters.
namespace perf {

struct Param {
  std::string name;
  MPI_Count rows = 0, row_elems = 0, block_rows = 0;
  int dtype = MPIX_TIDE_BF16;

  MPI_Count elems() const { return rows * row_elems; }
};

struct ParamList {
  std::string name, description;
  std::string note;  // what is run where it is not what was asked for
  double scale = 1;  // of the hidden sizes, built-in lists only
  std::vector<Param> params;

  std::int64_t full_bytes() const;
};

/// Names of the built-in lists.
std::vector<std::string> model_names();

/// A built-in list.  `scale` multiplies every hidden size (rounded to a multiple of 8, at least 8);
/// the number of parameters, their names and the ratios of their shapes stay.
ParamList model_list(const std::string& name, double scale, int dtype);

/// The scale at which a built-in list is nearest to `mib` MiB in bf16, at most 1.
double scale_for_mib(const std::string& name, double mib);

/// Parses a list file's text: `name rows row_elems [block_rows] [dtype]` a line, '#' starts a
/// comment.  Throws std::invalid_argument that names the file, the line and the remedy.
ParamList parse_list(const std::string& file, const std::string& text, int dtype);

/// Reads a file on rank 0 and hands its text to all ranks; a failure is thrown on all ranks.
std::string read_on_root(MPI_Comm comm, const std::string& file);

}  // namespace perf
