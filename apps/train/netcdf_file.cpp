// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "netcdf_file.hpp"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace train {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Files without _FillValue hold the library's own where nothing was written.
double default_fill(nc_type type) {
  switch (type) {
    case NC_SHORT:
      return NC_FILL_SHORT;
    case NC_INT:
      return NC_FILL_INT;
    case NC_FLOAT:
      return NC_FILL_FLOAT;
    case NC_DOUBLE:
      return NC_FILL_DOUBLE;
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

// A missing_value written as float may stand for double data, hence the small margin.
bool is_missing(double value, const std::vector<double>& missing) {
  if (std::isnan(value)) return true;
  return std::any_of(missing.begin(), missing.end(),
                     [&](double m) { return std::abs(value - m) <= 1e-6 * std::abs(m); });
}

}  // namespace

void NetcdfFile::check(int status, const std::string& what) const {
  if (status != NC_NOERR)
    throw std::runtime_error(fmt::format("{}: {}: {}", path_, what, nc_strerror(status)));
}

NetcdfFile::NetcdfFile(const std::string& path) : path_(path) {
  check(nc_open(path.c_str(), NC_NOWRITE, &id_),
        "cannot open the data (--data names a NetCDF file; the default comes with Debian's "
        "package ferret-datasets)");
}

NetcdfFile::~NetcdfFile() { nc_close(id_); }

bool NetcdfFile::has_variable(const std::string& name) const {
  int variable;
  return nc_inq_varid(id_, name.c_str(), &variable) == NC_NOERR;
}

int NetcdfFile::variable(const std::string& name) const {
  int variable, count = 0;
  if (nc_inq_varid(id_, name.c_str(), &variable) == NC_NOERR) return variable;
  check(nc_inq_nvars(id_, &count), "list of variables");
  std::string known;
  for (int v = 0; v < count; ++v) {
    char text[NC_MAX_NAME + 1];
    check(nc_inq_varname(id_, v, text), "name of a variable");
    known += fmt::format("{}{}", known.empty() ? "" : ", ", text);
  }
  throw std::runtime_error(fmt::format(
      "{}: no variable '{}'; the file has: {} (choose with --vars)", path_, name, known));
}

std::string NetcdfFile::text(int variable, const char* attribute) const {
  size_t length;
  nc_type type;
  if (nc_inq_att(id_, variable, attribute, &type, &length) != NC_NOERR || type != NC_CHAR)
    return {};
  std::string value(length, '\0');
  check(nc_get_att_text(id_, variable, attribute, value.data()), attribute);
  value.resize(std::min(value.size(), value.find('\0')));
  return value;
}

std::vector<double> NetcdfFile::numbers(int variable, const char* attribute) const {
  size_t length;
  nc_type type;
  if (nc_inq_att(id_, variable, attribute, &type, &length) != NC_NOERR) return {};
  if (type == NC_CHAR || type == NC_STRING) return {};
  std::vector<double> values(length);
  check(nc_get_att_double(id_, variable, attribute, values.data()), attribute);
  return values;
}

Axis NetcdfFile::axis_of(const std::string& dimension, size_t length) const {
  const std::string name = lower(dimension);
  int v;
  if (nc_inq_varid(id_, dimension.c_str(), &v) == NC_NOERR) {
    const std::string units = lower(text(v, "units")), axis = lower(text(v, "axis"));
    const std::string standard = lower(text(v, "standard_name"));
    if (units.find(" since ") != std::string::npos || axis == "t" || standard == "time")
      return Axis::time;
    if (units.rfind("degree", 0) == 0 && units.find("_e") != std::string::npos) return Axis::lon;
    if (units.rfind("degree", 0) == 0 && units.find("_n") != std::string::npos) return Axis::lat;
    if (axis == "x" || standard == "longitude") return Axis::lon;
    if (axis == "y" || standard == "latitude") return Axis::lat;
    if (axis == "z" || !text(v, "positive").empty())
      return length == 1 ? Axis::single : Axis::unknown;
    if (name.rfind("lon", 0) == 0) return Axis::lon;
    if (name.rfind("lat", 0) == 0) return Axis::lat;
  }
  if (name.rfind("time", 0) == 0 || name.rfind("month", 0) == 0) return Axis::time;
  return length == 1 ? Axis::single : Axis::unknown;
}

std::vector<Dimension> NetcdfFile::dimensions(int variable) const {
  int count;
  check(nc_inq_varndims(id_, variable, &count), "number of dimensions");
  std::vector<int> ids(count);
  check(nc_inq_vardimid(id_, variable, ids.data()), "dimensions");
  std::vector<Dimension> result;
  for (int id : ids) {
    char name[NC_MAX_NAME + 1];
    size_t length;
    check(nc_inq_dim(id_, id, name, &length), "a dimension");
    result.push_back({id, name, length, axis_of(name, length)});
  }
  return result;
}

std::vector<double> NetcdfFile::raw(int variable, const std::string& name) const {
  size_t count = 1;
  for (const Dimension& d : dimensions(variable)) count *= d.length;
  std::vector<double> values(count);
  check(nc_get_var_double(id_, variable, values.data()), fmt::format("variable '{}'", name));
  return values;
}

std::vector<double> NetcdfFile::observed(int variable, const std::string& name) const {
  std::vector<double> values = raw(variable, name);
  std::vector<double> missing = numbers(variable, "missing_value");
  const std::vector<double> fill = numbers(variable, "_FillValue");
  nc_type type;
  check(nc_inq_vartype(id_, variable, &type), fmt::format("type of '{}'", name));
  if (!fill.empty())
    missing.push_back(fill[0]);
  else
    missing.push_back(default_fill(type));
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  const auto range = numbers(variable, "valid_range"), least = numbers(variable, "valid_min"),
             most = numbers(variable, "valid_max");
  if (range.size() == 2) low = range[0], high = range[1];
  if (!least.empty()) low = least[0];
  if (!most.empty()) high = most[0];
  const auto scale = numbers(variable, "scale_factor"), offset = numbers(variable, "add_offset");
  for (double& value : values) {
    if (is_missing(value, missing) || value < low || value > high)
      value = std::numeric_limits<double>::quiet_NaN();
    else
      value = value * (scale.empty() ? 1 : scale[0]) + (offset.empty() ? 0 : offset[0]);
  }
  return values;
}

}  // namespace train
