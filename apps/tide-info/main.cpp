// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <mpix_tide.h>

#include "options.hpp"
#include "sections.hpp"
#include "tool.hpp"

namespace {

using nlohmann::json;

std::string version() {
  int major = 0, minor = 0, patch = 0;
  MPIX_Tide_get_version(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

json gather(const info::Options& o, MPI_Comm comm) {
  json all{{"version", version()}};
  if (o.topology) all["topology"] = info::topology_section(comm);
  if (o.paths) all["paths"] = info::paths_section(comm);
  if (o.rails) all["rails"] = info::rails_section(comm, o.rail);
  if (o.config) all["config"] = info::config_section();
  if (o.environment) all["environment"] = info::environment_section();
  return all;
}

std::string text_of(const json& all) {
  std::string text = fmt::format("Tide {}\n", all["version"].get<std::string>());
  if (all.contains("topology")) text += fmt::format("\n{}", info::topology_text(all["topology"]));
  if (all.contains("paths")) text += fmt::format("\n{}", info::paths_text(all["paths"]));
  if (all.contains("rails")) text += fmt::format("\n{}", info::rails_text(all["rails"]));
  if (all.contains("engines")) text += fmt::format("\n{}", info::engines_text(all["engines"]));
  if (all.contains("config")) text += fmt::format("\n{}", info::config_text(all["config"]));
  if (all.contains("environment"))
    text += fmt::format("\n{}", info::environment_text(all["environment"]));
  return text;
}

std::string output(const info::Options& options, const json& all) {
  return options.json ? all.dump(1, ' ', false, json::error_handler_t::replace) + "\n"
                      : text_of(all);
}

void run(const info::Options& options, int rank) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);  // failures come back with a message
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const json all = gather(options, comm);
  if (rank == 0) fmt::print("{}", output(options, all));
  MPI_Comm_free(&comm);
}

// Answers before MPI starts, which may be impossible where this is asked.
void answer(const info::Options& options, tools::Parsed& parsed) {
  parsed.run = false;
  try {
    json all{{"version", version()}};
    if (options.engines)
      all["engines"] = info::engines_section();
    else
      all["rails"] = info::supposed_rails(options.rail);
    parsed.text = output(options, all);
  } catch (const std::exception& e) {
    parsed.exit_code = tools::failure_code;
    parsed.text = fmt::format("tide-info: {}\n", e.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  info::Options options;
  tools::Parsed parsed = info::parse_options(argc, argv, options);
  if (parsed.run && (options.engines || options.rail.supposed())) answer(options, parsed);
  return tools::run_tool({"tide-info"}, argc, argv, parsed, [&](int rank) {
    run(options, rank);
    return 0;
  });
}
