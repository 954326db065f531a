// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What info keys and the environment ask for.  Each key tide_x has a variable TIDE_X; the info key
// wins, except over TIDE_FORCE=x=value,...  Values are checked here; what this version cannot do is
// refused by name.
#pragma once
#include <mpi.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace tide {

struct Setting {     // one line of the table
  const char* name;  // "tide_order"; environment-only ones are spelled "TIDE_LOG"
  const char* fallback;
  const char* values;  // "node|rank", "bytes", "seconds", "text", "count"
  const char* meaning;
  enum Scope { group, alloc, environment } scope;
  bool same_on_all;  // part of the fingerprint
};
const std::vector<Setting>& all_settings();

class Settings {
 public:
  // Throws Error{arg} on an unknown tide_ key or a bad value, Error{unsupported} on a value that
  // this version has not.
  static Settings read(MPI_Info info, Setting::Scope scope);
  const std::string& text(const std::string& name) const { return value_.at(name); }
  size_t bytes(const std::string& name) const;
  double seconds(const std::string& name) const;

 private:
  std::map<std::string, std::string> value_;
};

// Info of its own: the value of one key, "" if absent.
std::string info_value(MPI_Info info, const char* key);
std::string environment_value(const char* name);  // "" if unset or empty
std::string variable(std::string name);           // tide_x -> TIDE_X
std::string environment_problem(const Setting&);  // why its variable's value is refused, else ""
std::vector<std::string> missing_values(const Setting&);  // listed, but not in this version
double default_limit_s();  // TIDE_TIMEOUT, for set-up without a group's info; 0: none
void check_environment();  // warns once of unknown TIDE_ variables; reads TIDE_LOG

// Of TIDE_FAKE_NODES: a node number for each rank.  Error{arg}: something else.
std::vector<int> parse_fake_nodes(const std::string& text);

}  // namespace tide
