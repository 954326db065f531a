// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Variables and info keys of any content.  What is accepted is one of the values that are listed.
#include "core/settings.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "core/error.hpp"
#include "core/launch.hpp"
#include "core/log.hpp"
#include "mpix_tide.h"
#include "simulated.hpp"

using namespace fuzz;
using namespace tide;

namespace {

bool listed(const std::string& values, const std::string& value) {
  std::istringstream list(values);
  for (std::string one; std::getline(list, one, '|');)
    if (one == value) return true;
  return false;
}

bool is_number(const std::string& value) {
  const size_t sign = value.rfind('+', 0) == 0;
  return value.size() > sign && value.find_first_not_of("0123456789", sign) == std::string::npos;
}

void check_accepted(const Settings& settings, Setting::Scope scope) {
  for (const Setting& s : all_settings()) {
    if (s.scope != scope && s.scope != Setting::environment) continue;
    const std::string values = s.values, value = settings.text(s.name);
    if (values == "bytes" || values == "count")
      require(is_number(value) && std::to_string(settings.bytes(s.name)).size() <= 19,
              "a number in range");
    else if (values == "seconds")
      require(settings.seconds(s.name) >= 0 && settings.seconds(s.name) < 1e19, "a time");
    else if (values != "text")
      require(listed(values, value), s.name);
    require(value.find('\n') == std::string::npos || values == "text", "one line");
  }
}

struct Case {
  std::map<std::string, std::string> variables, info;
  bool alloc = false;
};

// Lines: name=value is a variable, :name=value an info key; a digit stands for a known name.
Case case_from(Input& in) {
  Case c;
  c.alloc = in.take<uint8_t>() & 1;
  const auto& known = all_settings();
  while (in.left()) {
    const std::string line = in.text('\0');
    const bool info = line.rfind(':', 0) == 0;
    const size_t equal = std::min(line.find('=', 1), line.size());
    std::string name = line.substr(info, equal - info);
    if (name.size() == 1) name = known[static_cast<unsigned char>(name[0]) % known.size()].name;
    const std::string value = line.substr(std::min(equal + 1, line.size()));
    if (name.empty() || name.find('=') != std::string::npos) continue;
    if (info && name.size() < MPI_MAX_INFO_KEY && value.size() < MPI_MAX_INFO_VAL && !value.empty())
      c.info[name] = value;
    else if (!info && c.variables.size() < 32)
      c.variables["TIDE_" + (name.size() > 5 ? variable(name).substr(5) : name)] = value;
  }
  return c;
}

void check_launch_words(const Case& c) {
  static const std::string names[] = {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS",
                                      "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  const auto lookup = [&](const char* name) -> const char* {
    const auto at = std::find(std::begin(names), std::end(names), name) - std::begin(names);
    if (static_cast<size_t>(at) >= c.variables.size()) return nullptr;
    return std::next(c.variables.begin(), at)->second.c_str();
  };
  for (const char* mpi : {"Open MPI", "MPICH"}) launch_mistake(1, mpi, lookup);
}

void read_all(const Case& c, MPI_Info info) {
  const auto scope = c.alloc ? Setting::alloc : Setting::group;
  bool good = true;
  try {
    check_accepted(Settings::read(info, scope), scope);
  } catch (const Error&) {
    good = false;
  }
  if (c.alloc) {
    void* base = nullptr;
    const int code = MPIX_Tide_alloc(MPI_COMM_WORLD, 10, info, static_cast<void*>(&base));
    require(good || code != MPI_SUCCESS, "what is refused is refused by alloc");
    if (code == MPI_SUCCESS) MPIX_Tide_free(MPI_COMM_WORLD, base);
    return;
  }
  const MPIX_Tide_param param{5, 3, 0, MPIX_TIDE_BF16, 0};
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const int code = MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &param, info, &group);
  require(good || code != MPI_SUCCESS, "what is refused is refused by group_create");
  require(code == MPI_SUCCESS || *MPIX_Tide_error_message(), "an error has a text");
  if (code == MPI_SUCCESS) MPIX_Tide_group_free(&group);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input in(data, bytes);
  const Case c = case_from(in);
  run_ranks(1, [&](int) {
    for (const auto& [name, value] : c.variables) setenv(name.c_str(), value.c_str(), 1);
    MPI_Info info;
    MPI_Info_create(&info);
    for (const auto& [key, value] : c.info) MPI_Info_set(info, key.c_str(), value.c_str());
    read_all(c, info);
    MPI_Info_free(&info);
    for (const auto& [name, value] : c.variables) unsetenv(name.c_str());
  });
  set_log_level("warn");
  check_launch_words(c);
  return 0;
}
