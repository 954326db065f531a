// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "agreement.hpp"
#include "query.hpp"
#include "results.hpp"

namespace perf {
namespace {

using nlohmann::json;

// The first line up to a comma says what is needed: "Open MPI v4.1.4", "MPICH Version: 4.0.2".
std::string mpi_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string name(text, static_cast<std::size_t>(length));
  name = name.substr(0, name.find_first_of(",\n"));
  for (char& c : name)
    if (c == '\t') c = ' ';
  return name;
}

bool is_about_bytes(const std::string& key) {
  return key.find("bytes") != std::string::npos &&
         (key.find("rail") != std::string::npos || key.find("cop") != std::string::npos ||
          key.find("put") != std::string::npos || key.find("wire") != std::string::npos);
}

}  // namespace

Facts gather_facts(MPI_Comm comm, const gpu::Session& gpu, int argc, char** argv) {
  Facts facts;
  facts.devices = gpu.devices;
  facts.cuda = gpu.versions;
  facts.nccl = gpu.nccl_version;
  facts.command.assign(argv, argv + argc);
  facts.mpi = mpi_name();
  int major = 0, minor = 0, patch = 0;
  MPIX_Tide_get_version(&major, &minor, &patch);
  facts.tide = fmt::format("{}.{}.{}", major, minor, patch);
  facts.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  MPIX_Tide_topology topology{};
  tools::agree(comm, tools::tide_problem(MPIX_Tide_comm_topology(comm, &topology),
                                         "MPIX_Tide_comm_topology"));
  MPI_Comm_size(comm, &facts.ranks);
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  facts.thread_multiple = level == MPI_THREAD_MULTIPLE;
  facts.nodes = topology.nodes;
  facts.local_size = topology.local_size;
  facts.uniform = topology.uniform != 0;
  const char* fake = std::getenv("TIDE_FAKE_NODES");
  facts.fake_nodes = fake != nullptr && *fake != '\0';
  facts.config = tools::read_config();
  return facts;
}

std::string report_line(const json& report, const std::string& collective) {
  if (!report.is_object()) return "";
  // MPI-like names with '_' stand in the report; a report without parts speaks for both.
  const std::string key = collective == "allgather" ? "allgather" : "reduce_scatter";
  const json& part = report.contains(key) && report[key].is_object() ? report[key] : report;
  std::string line;
  const auto add = [&](const std::string& words) { line += (line.empty() ? "" : ", ") + words; };
  if (part.contains("path")) add("path " + tools::words_of(part["path"]));
  if (part.contains("rail")) add("rail " + tools::words_of(part["rail"]));
  for (const auto& [key, value] : part.items())
    if (value.is_number() && is_about_bytes(key)) add(key + " " + value.dump());
  for (const auto& [key, value] : part.items())
    if (key.rfind("why", 0) == 0 && !tools::words_of(value).empty()) add(tools::words_of(value));
  return line;
}

}  // namespace perf
