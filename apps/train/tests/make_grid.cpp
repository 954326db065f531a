// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Writes a small NetCDF file for the tests: smooth fields, and variables that must be refused.
#include <netcdf.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kLon = 24, kLat = 18, kTime = 12, kDepth = 5;

void check(int status) {
  if (status == NC_NOERR) return;
  std::fprintf(stderr, "make_grid: %s\n", nc_strerror(status));
  std::exit(1);
}

int axis(int file, const char* name, size_t length, const char* units) {
  int dim, var;
  check(nc_def_dim(file, name, length, &dim));
  check(nc_def_var(file, name, NC_DOUBLE, 1, &dim, &var));
  check(nc_put_att_text(file, var, "units", std::strlen(units), units));
  return dim;
}

void fill_axis(int file, const char* name, int length, double first, double step) {
  int var;
  std::vector<double> values;
  for (int n = 0; n < length; ++n) values.push_back(first + n * step);
  check(nc_inq_varid(file, name, &var));
  check(nc_put_var_double(file, var, values.data()));
}

double smooth(int t, int j, int i) {
  const double lat = (-85 + 10 * j) * M_PI / 180, lon = 15 * i * M_PI / 180, month = t * M_PI / 6;
  return 10 + 15 * std::cos(lat) * std::cos(lat) + 3 * std::sin(lon) * std::cos(lat) +
         4 * std::sin(lat) * std::cos(month);
}

bool is_land(int j, int i) { return (i > 5 && i < 10 && j > 4) || j == 0; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int file, warm, packed, still, deep, bare;
  check(nc_create(argv[1], NC_CLOBBER, &file));
  const int lon = axis(file, "lon", kLon, "degrees_east"),
            lat = axis(file, "lat", kLat, "degrees_north");
  const int time = axis(file, "time", kTime, "days since 1-1-1");
  int level, depth, row;
  check(nc_def_dim(file, "level", 1, &level));
  check(nc_def_dim(file, "depth", kDepth, &depth));
  check(nc_def_dim(file, "row", 4, &row));
  const int d4[] = {time, level, lat, lon}, d3[] = {time, lat, lon},
            deep4[] = {time, depth, lat, lon};
  check(nc_def_var(file, "WARM", NC_FLOAT, 4, d4, &warm));
  check(nc_def_var(file, "PACKED", NC_SHORT, 3, d3, &packed));
  check(nc_def_var(file, "STILL", NC_DOUBLE, 2, d3 + 1, &still));
  check(nc_def_var(file, "DEEP", NC_FLOAT, 4, deep4, &deep));
  check(nc_def_var(file, "BARE", NC_FLOAT, 1, &row, &bare));
  const float missing = -1.e34f;
  const short hole = -999;
  const double scale = 0.01, offset = 5;
  check(nc_put_att_float(file, warm, "missing_value", NC_FLOAT, 1, &missing));
  check(nc_put_att_text(file, warm, "units", 5, "deg C"));
  check(nc_put_att_short(file, packed, "_FillValue", NC_SHORT, 1, &hole));
  check(nc_put_att_double(file, packed, "scale_factor", NC_DOUBLE, 1, &scale));
  check(nc_put_att_double(file, packed, "add_offset", NC_DOUBLE, 1, &offset));
  check(nc_put_att_float(file, still, "missing_value", NC_FLOAT, 1, &missing));
  check(nc_enddef(file));
  fill_axis(file, "lon", kLon, 0, 15);
  fill_axis(file, "lat", kLat, -85, 10);
  fill_axis(file, "time", kTime, 15, 30.4369);
  std::vector<float> values;
  std::vector<short> shorts;
  std::vector<double> doubles;
  for (int t = 0; t < kTime; ++t)
    for (int j = 0; j < kLat; ++j)
      for (int i = 0; i < kLon; ++i) {
        values.push_back(is_land(j, i) ? missing : float(smooth(t, j, i)));
        // a hole that moves, so that samples with one of two fields exist
        shorts.push_back(
            (i + t) % 11 == 0 ? hole : short(std::lround((smooth(t, j, i) - offset) / scale)));
        if (t == 0) doubles.push_back(is_land(j, i) ? missing : smooth(t, j, i));
      }
  check(nc_put_var_float(file, warm, values.data()));
  check(nc_put_var_short(file, packed, shorts.data()));
  check(nc_put_var_double(file, still, doubles.data()));
  check(nc_close(file));
}
