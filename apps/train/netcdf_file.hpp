// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A thin reader over libnetcdf's C interface: just what a gridded variable needs.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace train {

enum class Axis { lon, lat, time, single, unknown };

struct Dimension {
  int id;
  std::string name;
  size_t length;
  Axis axis;
};

class NetcdfFile {
 public:
  explicit NetcdfFile(const std::string& path);
  ~NetcdfFile();
  NetcdfFile(const NetcdfFile&) = delete;
  NetcdfFile& operator=(const NetcdfFile&) = delete;

  const std::string& path() const { return path_; }
  int variable(const std::string& name) const;  // throws with the list of those that exist
  bool has_variable(const std::string& name) const;
  std::vector<Dimension> dimensions(int variable) const;
  std::string text(int variable, const char* attribute) const;  // empty where absent
  std::vector<double> numbers(int variable, const char* attribute) const;
  /// The values as they stand in the file.
  std::vector<double> raw(int variable, const std::string& name) const;
  /// Unpacked values; NaN where missing_value, _FillValue or the valid range say so.
  std::vector<double> observed(int variable, const std::string& name) const;

 private:
  Axis axis_of(const std::string& dimension, size_t length) const;
  void check(int status, const std::string& what) const;
  std::string path_;
  int id_ = -1;
};

}  // namespace train
