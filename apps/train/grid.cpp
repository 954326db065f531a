// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "failure.hpp"
#include "netcdf_file.hpp"

namespace train {
namespace {

// Where one variable's axes stand: the length and the stride of each, in elements.
struct Shape {
  const Dimension *lon = nullptr, *lat = nullptr, *time = nullptr;
  int64_t lon_stride = 0, lat_stride = 0, time_stride = 0;
};

Shape shape_of(const NetcdfFile& file, const std::string& name,
               const std::vector<Dimension>& dims) {
  Shape shape;
  int64_t stride = 1;
  for (auto d = dims.rbegin(); d != dims.rend(); stride *= int64_t(d->length), ++d) {
    const bool twice = (d->axis == Axis::lon && shape.lon) || (d->axis == Axis::lat && shape.lat) ||
                       (d->axis == Axis::time && shape.time);
    if (d->axis == Axis::unknown || twice)
      throw std::runtime_error(fmt::format(
          "{}: dimension '{}' (length {}) of variable '{}' is not longitude, latitude, time or of "
          "length one; take one level first (ncks -d {},0), or give it a coordinate variable with "
          "units degrees_east, degrees_north or 'days since ...'",
          file.path(), d->name, d->length, name, d->name));
    if (d->axis == Axis::lon) shape.lon = &*d, shape.lon_stride = stride;
    if (d->axis == Axis::lat) shape.lat = &*d, shape.lat_stride = stride;
    if (d->axis == Axis::time) shape.time = &*d, shape.time_stride = stride;
  }
  for (auto [axis, what] : {std::pair{shape.lon, "longitude"}, {shape.lat, "latitude"}})
    if (!axis || axis->length == 0)
      throw std::runtime_error(fmt::format(
          "{}: variable '{}' has no {} dimension; its fields must be on a rectilinear grid whose "
          "coordinate variables have units degrees_east and degrees_north",
          file.path(), name, what));
  if (shape.time && shape.time->length == 0)
    throw std::runtime_error(fmt::format("{}: the time dimension '{}' of variable '{}' is empty",
                                         file.path(), shape.time->name, name));
  return shape;
}

double years_per_unit(const std::string& units) {
  const double year_days = 365.2425;
  for (auto [word, years] : {std::pair{"second", 1 / year_days / 86400},
                             {"minute", 1 / year_days / 1440},
                             {"hour", 1 / year_days / 24},
                             {"day", 1 / year_days},
                             {"week", 7 / year_days},
                             {"month", 1.0 / 12},
                             {"year", 1.0}})
    if (units.rfind(word, 0) == 0) return years;
  return 0;
}

// Only the phase of the season matters to the network, so the date that times count from does not.
void read_times(const NetcdfFile& file, const Dimension& time, Grid& grid) {
  std::vector<double> when(time.length);
  double unit = 0;
  if (file.has_variable(time.name)) {
    const int v = file.variable(time.name);
    when = file.raw(v, time.name);
    unit = years_per_unit(file.text(v, "units"));
  }
  if (unit == 0) {  // no units: the record is one cycle
    unit = 1.0 / double(time.length);
    for (size_t t = 0; t < time.length; ++t) when[t] = double(t);
  }
  const double first = *std::min_element(when.begin(), when.end());
  const double last = *std::max_element(when.begin(), when.end());
  grid.record_years = (last - first) * unit;
  for (double& t : when) t = (t - first) * unit;
  grid.year_fraction = when;
}

void read_axes(const NetcdfFile& file, const Shape& shape, Grid& grid) {
  grid.lon = file.raw(file.variable(shape.lon->name), shape.lon->name);
  grid.lat = file.raw(file.variable(shape.lat->name), shape.lat->name);
  if (shape.time) read_times(file, *shape.time, grid);
}

void bcast_vector(MPI_Comm comm, std::vector<double>& values) {
  uint64_t count = values.size();
  MPI_Bcast(&count, 1, MPI_UINT64_T, 0, comm);
  values.resize(count);
  MPI_Bcast(values.data(), static_cast<int>(count), MPI_DOUBLE, 0, comm);
}

void bcast_string(MPI_Comm comm, std::string& text) {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, comm);
  text.resize(length);
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, comm);
}

}  // namespace

Grid read_grid(const std::string& path, const std::vector<std::string>& vars) {
  NetcdfFile file(path);
  Grid grid;
  const int64_t fields = int64_t(vars.size());
  std::vector<int> first_ids;
  for (int64_t f = 0; f < fields; ++f) {
    const int v = file.variable(vars[f]);
    const std::vector<Dimension> dims = file.dimensions(v);
    const Shape shape = shape_of(file, vars[f], dims);
    const std::vector<int> ids = {shape.lon->id, shape.lat->id, shape.time ? shape.time->id : -1};
    if (f == 0) {
      first_ids = ids;
      read_axes(file, shape, grid);
      grid.values.resize(grid.cells() * fields);
    } else if (ids != first_ids) {
      throw std::runtime_error(
          fmt::format("{}: variables '{}' and '{}' stand on different dimensions; train them apart",
                      path, vars[0], vars[f]));
    }
    const std::vector<double> values = file.observed(v, vars[f]);
    int64_t cell = 0, present = 0;
    for (int64_t t = 0; t < grid.times(); ++t)
      for (int64_t j = 0; j < int64_t(grid.lat.size()); ++j)
        for (int64_t i = 0; i < int64_t(grid.lon.size()); ++i, ++cell) {
          const double value =
              values[t * shape.time_stride + j * shape.lat_stride + i * shape.lon_stride];
          grid.values[cell * fields + f] = static_cast<float>(value);
          present += !std::isnan(value);
        }
    if (present == 0)
      throw std::runtime_error(
          fmt::format("{}: variable '{}' has missing values only", path, vars[f]));
    grid.fields.push_back({vars[f], file.text(v, "units")});
  }
  return grid;
}

Grid read_grid_once(MPI_Comm comm, const std::string& path, const std::vector<std::string>& vars) {
  Grid grid;
  on_first_rank(comm, [&] { grid = read_grid(path, vars); });
  bcast_vector(comm, grid.lon);
  bcast_vector(comm, grid.lat);
  bcast_vector(comm, grid.year_fraction);
  MPI_Bcast(&grid.record_years, 1, MPI_DOUBLE, 0, comm);
  grid.fields.resize(vars.size());
  for (Field& field : grid.fields) {
    bcast_string(comm, field.name);
    bcast_string(comm, field.units);
  }
  const int64_t count = grid.cells() * int64_t(vars.size()), piece = int64_t(1) << 28;
  grid.values.resize(count);
  for (int64_t at = 0; at < count; at += piece)  // MPI counts are ints
    MPI_Bcast(grid.values.data() + at, int(std::min(piece, count - at)), MPI_FLOAT, 0, comm);
  return grid;
}

}  // namespace train
