// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Names and variables of any bytes: what the library says of them is JSON, and one line.
#include <nlohmann/json.hpp>
#include <vector>

#include "core/settings.hpp"
#include "mpix_tide.h"
#include "simulated.hpp"

using namespace fuzz;

namespace {

template <class Call>
nlohmann::json json_of(const Call& call) {
  size_t needed = 0;
  require(call(nullptr, 0, &needed) == MPI_SUCCESS, MPIX_Tide_error_message());
  std::vector<char> text(needed);
  require(call(text.data(), text.size(), &needed) == MPI_SUCCESS, MPIX_Tide_error_message());
  require(needed == text.size() && text.back() == '\0', "a C string of the size that was told");
  auto json = nlohmann::json::parse(text.data(), nullptr, false);
  require(!json.is_discarded(), "valid JSON");
  if (needed > 4) {  // a buffer that is too small
    text.assign(needed, 'x');
    require(call(text.data(), needed / 2, &needed) == MPI_SUCCESS, "half of it");
    require(text[needed / 2 - 1] == '\0' && text[needed / 2] == 'x', "not beyond the buffer");
  }
  return json;
}

void check_names(const std::string& prefix, const std::vector<std::string>& names) {
  std::vector<MPIX_Tide_param> params;
  std::vector<const char*> list;
  for (const auto& name : names) {
    params.push_back({3, 2, 0, MPIX_TIDE_BF16, 0});
    list.push_back(name.c_str());
  }
  const int n = static_cast<int>(params.size());
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  MPIX_Tide_group_create(MPI_COMM_WORLD, n, params.data(), MPI_INFO_NULL, &group);
  require(MPIX_Tide_group_set_names(group, prefix.c_str(), list.data()) == MPI_SUCCESS, "names");
  // One that names the first parameter.
  std::vector<void*> nothing(params.size());
  const int code = MPIX_Tide_allgather(MPIX_TIDE_INPUTS(nothing.data()), nothing.data(), group);
  require(code != MPI_SUCCESS, "no storage");
  const std::string message = MPIX_Tide_error_message();
  require(message.find(prefix + names[0]) != std::string::npos, "the name as it was given");
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  require(length < MPI_MAX_ERROR_STRING && text[length] == '\0', "a message that fits");
  json_of([&](char* to, size_t size, size_t* needed) {
    return MPIX_Tide_group_report(group, to, size, needed);
  });
  MPIX_Tide_group_free(&group);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input in(data, bytes);
  const auto& settings = tide::all_settings();
  const std::string variable = tide::variable(settings[in.below(settings.size() - 1)].name);
  const std::string value = in.text('\0'), prefix = in.text('\0');
  std::vector<std::string> names;
  do names.push_back(in.text('\0'));
  while (in.left() && names.size() < 8);
  run_ranks(1, [&](int) {
    check_names(prefix, names);
    setenv(variable.c_str(), value.c_str(), 1);
    json_of([](char* to, size_t size, size_t* needed) {
      return MPIX_Tide_get_config(to, size, needed);
    });
    unsetenv(variable.c_str());
  });
  return 0;
}
