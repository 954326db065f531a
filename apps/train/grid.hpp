// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Fields on a longitude-latitude grid, read from any NetCDF file that has them.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace train {

struct Field {
  std::string name, units;
  double mean = 0, deviation = 1;  // of the training cells, in the file's units
};

struct Grid {
  std::vector<double> lon, lat;       // degrees
  std::vector<double> year_fraction;  // season of each time, in years; empty: no time axis
  double record_years = 0;
  std::vector<Field> fields;
  std::vector<float> values;  // [time][lat][lon][field]; NaN where nothing was observed

  int64_t times() const { return year_fraction.empty() ? 1 : int64_t(year_fraction.size()); }
  int64_t cells() const { return times() * int64_t(lat.size()) * int64_t(lon.size()); }
};

/// Reads the fields; throws std::runtime_error naming file, variable, dimension and remedy.
Grid read_grid(const std::string& path, const std::vector<std::string>& vars);

/// Collective: rank 0 reads, all get the same grid or all throw AgreedError.
Grid read_grid_once(MPI_Comm comm, const std::string& path, const std::vector<std::string>& vars);

}  // namespace train
