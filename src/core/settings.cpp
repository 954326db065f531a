// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/settings.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "backend/cuda/gpu.hpp"
#include "backend/rail.hpp"
#include "core/error.hpp"
#include "core/forced.hpp"
#include "core/log.hpp"
#include "core/machine_read.hpp"
#include "core/rail_devices.hpp"

extern char** environ;

namespace tide {

const std::vector<Setting>& all_settings() {
  using S = Setting;
  static const std::vector<Setting> table{
      {"tide_rail", "auto", "auto|mpi|ucx|nccl",
       "transport between nodes; nccl: of device memory, what is in host memory goes as with auto",
       S::group, true},
      {"tide_memory", "auto", "auto|system|cuda",
       "kind of memory that alloc gives when mpi_memory_alloc_kinds is absent", S::alloc, true},
      {"tide_share", "none", "none|node", "alloc: all ranks of a node get the same pages", S::alloc,
       true},
      {"tide_multicast", "off", "off|auto|on|emulate",
       "copies and sums by NVSwitch, which have not run on hardware; on insists; emulate: without "
       "one, for tests",
       S::group, true},
      {"tide_order", "node", "node|rank",
       "order of additions: node partials, or plain rank order on any map", S::group, true},
      {"tide_foreign", "auto", "auto|cma|staged",
       "how memory that Tide did not allocate is reached inside a node", S::group, true},
      {"tide_timeout", "0", "seconds", "give up on a silent peer after this long; 0: never",
       S::group, true},
      {"tide_chunk_bytes", "1048576", "bytes", "size of a put on a rail, and of a staging slot",
       S::group, true},
      {"tide_rail_inflight_bytes", "16777216", "bytes",
       "cap of bytes in flight from one rank; 0: a put at a time", S::group, true},
      {"tide_eager_bytes", "8192", "bytes",
       "all-gathers of at most so many bytes, whole list, travel with the entry between nodes",
       S::group, true},
      {"tide_workspace_bytes", "0", "bytes",
       "upper bound of a reduce-scatter's workspace; 0: Tide's choice", S::group, true},
      {"tide_sum_ctas", "16", "count", "thread blocks of a sum on a GPU", S::group, true},
      {"tide_landing_ctas", "64", "count", "thread blocks of a landing on a GPU", S::group, true},
      {"tide_landing_bytes_per_s", "0", "bytes", "cap of the landing rate on a GPU; 0: none",
       S::group, true},
      {"tide_progress", "poll", "poll|thread", "who drives calls between the user's calls",
       S::group, true},
      {"tide_device", "", "text", "CUDA device of this rank", S::group, false},
      {"tide_rail_devices", "", "text",
       "NICs of local ranks 0, 1, ...: mlx5_0,mlx5_1; + joins several, ; does for , in TIDE_FORCE; "
       "empty: the nearest",
       S::group, false},
      {"TIDE_ALLOW_MULTICAST", "0", "0|1",
       "permits NVSwitch multicast where everything else asks for it", S::environment, false},
      {"TIDE_CHECK", "0", "0|1",
       "check that the memory of new addresses, and in every 64th call of all, is there",
       S::environment, true},
      {"TIDE_FAKE_NODES", "", "text",
       "node number of each rank of MPI_COMM_WORLD (0,0,1,1,2), for tests and rehearsals",
       S::environment, false},
      {"TIDE_FORCE", "", "text", "x=value,...: wins over info keys", S::environment, false},
      {"TIDE_HWLOC_XML", "", "text",
       "file of lstopo that stands for this machine, for tests and rehearsals", S::environment,
       false},
      {"TIDE_NCCL_LIBRARY", "", "text", "file of NCCL; empty: libnccl.so.2", S::environment, false},
      {"TIDE_LOG", "warn", "error|warn|info|debug", "what is logged", S::environment, false},
  };
  return table;
}

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string info_value(MPI_Info info, const char* key) {
  if (info == MPI_INFO_NULL) return "";
  int flag = 0, length = 0;
  MPI_Info_get_valuelen(info, key, &length, &flag);
  if (!flag) return "";
  std::string value(static_cast<size_t>(length) + 1, '\0');
  MPI_Info_get(info, key, length, value.data(), &flag);
  value.resize(static_cast<size_t>(length));
  return value;
}

std::string variable(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return name;
}

static bool is_number(const std::string& text, bool whole) {
  if (text.empty() || text[0] == '-' || std::isspace(static_cast<unsigned char>(text[0])))
    return false;
  char* end = nullptr;
  errno = 0;
  const double value = whole ? static_cast<double>(std::strtoull(text.c_str(), &end, 10))
                             : std::strtod(text.c_str(), &end);
  return *end == '\0' && errno == 0 && value >= 0 && value < 9e18;
}

static void check_value(const Setting& s, const std::string& value) {
  const std::string values = s.values;
  bool good = true;
  if (values == "bytes" || values == "count")
    good = is_number(value, true);
  else if (values == "seconds")
    good = is_number(value, false);
  else if (values != "text")
    good = ("|" + values + "|").find("|" + value + "|") != std::string::npos && !value.empty() &&
           value.find('|') == std::string::npos;
  if (!good) throw Error(Kind::arg, "{}: '{}' is not a value; use {}", s.name, value, values);
  [[maybe_unused]] const auto refuse = [&](const char* instead) {
    throw Error(Kind::unsupported, "{} = {} is not in this version; use {}", s.name, value,
                instead);
  };
  const std::string name = s.name;
#if !TIDE_HAVE_NCCL
  if (name == "tide_rail" && value == "nccl") refuse("auto, mpi or ucx");
#endif
#if !TIDE_HAVE_UCX
  if (name == "tide_rail" && value == "ucx") refuse("auto or mpi");
#endif
  if (name == "tide_memory" && value == "cuda" && std::string(gpu::built()) == "none")
    throw Error(Kind::unsupported,
                "tide_memory = cuda: this Tide was built without CUDA; configure it with "
                "-DTIDE_WITH_CUDA=ON, or use auto or system");
#if !TIDE_HAVE_MULTICAST
  if (name == "tide_multicast" && value == "on")
    throw Error(Kind::unsupported,
                "tide_multicast = on: this Tide was built without it; configure it with "
                "-DTIDE_WITH_CUDA=ON -DTIDE_WITH_MULTICAST=ON, or use off, auto or emulate");
#endif
  if (name == "tide_rail_devices") parse_rail_devices(value);
  if (name == "TIDE_FAKE_NODES") parse_fake_nodes(value);
  if (name == "TIDE_HWLOC_XML" && !value.empty() && !has_hwloc())
    throw Error(
        Kind::unsupported,
        "TIDE_HWLOC_XML: this build has no hwloc; configure Tide with -DTIDE_WITH_HWLOC=ON, "
        "or unset the variable");
  if ((name == "tide_sum_ctas" || name == "tide_landing_ctas") &&
      (std::strtoull(value.c_str(), nullptr, 10) < 1 ||
       std::strtoull(value.c_str(), nullptr, 10) > 65535))
    throw Error(Kind::arg, "{}: {} is out of range; use 1 to 65535", s.name, value);
  if (name == "tide_chunk_bytes" && (std::strtoull(value.c_str(), nullptr, 10) < 64 ||
                                     std::strtoull(value.c_str(), nullptr, 10) > (1U << 30)))
    throw Error(Kind::arg, "tide_chunk_bytes: {} is out of range; use 64 to 1073741824", value);
  if (name == "tide_eager_bytes" && std::strtoull(value.c_str(), nullptr, 10) > Rail::most_eager)
    throw Error(Kind::arg, "tide_eager_bytes: {} is out of range; use 0 to {}", value,
                Rail::most_eager);
}

std::vector<int> parse_fake_nodes(const std::string& text) {
  std::vector<int> nodes;
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    char* end = nullptr;
    const long value = std::strtol(item.c_str(), &end, 10);
    if (item.empty() || *end || value < 0 || value > 1000000)
      throw Error(Kind::arg,
                  "TIDE_FAKE_NODES: '{}' is not a node number; write one per rank of "
                  "MPI_COMM_WORLD, for example 0,0,1,1",
                  item);
    nodes.push_back(static_cast<int>(value));
  }
  return nodes;
}

std::string environment_problem(const Setting& s) {
  const std::string value = environment_value(variable(s.name).c_str());
  try {
    if (!value.empty()) check_value(s, value);
    if (std::string(s.name) != "TIDE_FORCE") return "";
    for (const auto& [key, wanted] : forced()) {
      const std::string& name = key;  // clang 14 captures no binding
      const auto at = std::find_if(all_settings().begin(), all_settings().end(),
                                   [&](const Setting& k) { return name == k.name; });
      if (at == all_settings().end()) return fmt::format("there is no key '{}'", name);
      check_value(*at, wanted);
    }
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

std::vector<std::string> missing_values(const Setting& s) {
  std::vector<std::string> missing;
  if (std::string(s.values).find('|') == std::string::npos) return missing;  // "bytes", "text"
  std::istringstream values(s.values);
  for (std::string value; std::getline(values, value, '|');) {
    try {
      check_value(s, value);
    } catch (const Error&) {
      missing.push_back(value);
    }
  }
  return missing;
}

Settings Settings::read(MPI_Info info, Setting::Scope scope) {
  Settings settings;
  const auto force = forced();
  for (const Setting& s : all_settings()) {
    std::string value = s.fallback;
    const std::string env = environment_value(variable(s.name).c_str());
    if (!env.empty()) value = env;
    if (s.scope != Setting::environment) {
      if (const std::string asked = info_value(info, s.name); !asked.empty()) {
        if (s.scope != scope)
          throw Error(Kind::arg, "info key '{}' belongs to {}; pass it there", s.name,
                      s.scope == Setting::alloc ? "MPIX_Tide_alloc" : "MPIX_Tide_group_create");
        value = asked;
      }
      if (const auto f = force.find(s.name); f != force.end()) value = f->second;
    }
    if (s.scope == scope || s.scope == Setting::environment) check_value(s, value);
    settings.value_[s.name] = value;
  }
  for (const auto& [name, value] : force)
    if (!settings.value_.count(name))
      throw Error(Kind::arg, "TIDE_FORCE: there is no key '{}'; see tide-info --env", name);
  int keys = 0;
  if (info != MPI_INFO_NULL) MPI_Info_get_nkeys(info, &keys);
  for (int k = 0; k < keys; k++) {
    char key[MPI_MAX_INFO_KEY + 1] = {};
    MPI_Info_get_nthkey(info, k, key);
    if (std::string(key).rfind("tide_", 0) != 0 || settings.value_.count(key)) continue;
    if (settings.value_.count(variable(key)))
      throw Error(Kind::arg,
                  "info key '{}': {} is an environment variable only; set it in the environment of "
                  "all ranks and drop the key",
                  key, variable(key));
    throw Error(Kind::arg, "info key '{}' is not known; see tide-info --env for the list", key);
  }
  return settings;
}

size_t Settings::bytes(const std::string& name) const {
  return std::strtoull(text(name).c_str(), nullptr, 10);
}
double default_limit_s() {
  const std::string value = environment_value("TIDE_TIMEOUT");
  return is_number(value, false) ? std::strtod(value.c_str(), nullptr) : 0;
}

double Settings::seconds(const std::string& name) const {
  return std::strtod(text(name).c_str(), nullptr);
}

void check_environment() {
  if (const std::string level = environment_value("TIDE_LOG");
      !level.empty() && !set_log_level(level))
    warn_once(fmt::format("TIDE_LOG: '{}' is not a level; use error, warn, info or debug", level));
  for (char** e = environ; *e; e++) {
    const std::string entry = *e, name = entry.substr(0, entry.find('='));
    if (name.rfind("TIDE_", 0) != 0) continue;
    const bool known = std::any_of(all_settings().begin(), all_settings().end(),
                                   [&](const Setting& s) { return variable(s.name) == name; });
    if (!known)
      warn_once(fmt::format(
          "environment variable {} is not known; see tide-info --env for the list", name));
  }
}

}  // namespace tide
