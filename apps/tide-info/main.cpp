// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <mpix_tide.h>
#include <unistd.h>

#include <cstdlib>

#include "agreement.hpp"
#include "options.hpp"
#include "sections.hpp"

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
  if (o.config) all["config"] = info::config_section();
  if (o.environment) all["environment"] = info::environment_section();
  return all;
}

std::string text_of(const json& all) {
  std::string text = fmt::format("Tide {}\n", all["version"].get<std::string>());
  if (all.contains("topology")) text += "\n" + info::topology_text(all["topology"]);
  if (all.contains("paths")) text += "\n" + info::paths_text(all["paths"]);
  if (all.contains("config")) text += "\n" + info::config_text(all["config"]);
  if (all.contains("environment")) text += "\n" + info::environment_text(all["environment"]);
  return text;
}

void run(const info::Options& options, int rank) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);  // failures come back with a message
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const json all = gather(options, comm);
  if (rank == 0) fmt::print("{}", options.json ? all.dump(1) + "\n" : text_of(all));
  MPI_Comm_free(&comm);
}

// A failure that other ranks may not know of: they would wait for ever.
[[noreturn]] void abort_all(int rank, const char* message) {
  if (rank != 0) sleep(1);  // as a rule all ranks have the same to say, and rank 0 says it
  fmt::print(stderr, "tide-info: rank {}: {}\n", rank, message);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  const info::Parsed parsed = info::parse_options(argc, argv);
  const char* progress = std::getenv("TIDE_PROGRESS");
  const bool threads = progress != nullptr && std::string(progress) == "thread";
  int provided = 0, rank = 0, exit_code = parsed.exit_code;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string text = parsed.text;
  try {
    if (parsed.run) run(parsed.options, rank);
  } catch (const tools::AgreedError& e) {
    text = fmt::format("tide-info: {}\n", e.what());
    exit_code = 1;
  } catch (const std::exception& e) {
    abort_all(rank, e.what());
  }
  if (rank == 0) fmt::print(exit_code == 0 ? stdout : stderr, "{}", text);
  std::fflush(nullptr);
  MPI_Finalize();
  return exit_code;
}
