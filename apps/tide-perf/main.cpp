// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <mpix_tide.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "agreement.hpp"
#include "launch.hpp"
#include "run.hpp"

namespace {

using namespace perf;

void start_mpi(int* argc, char*** argv) {
  const char* progress = std::getenv("TIDE_PROGRESS");
  const bool threads = progress != nullptr && std::string(progress) == "thread";
  int provided = 0;
  MPI_Init_thread(argc, argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
}

void check_fake_nodes(const std::string& list) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto named = 1 + std::count(list.begin(), list.end(), ',');
  if (!list.empty() && named != ranks)
    throw std::invalid_argument(
        fmt::format("--fake-nodes names {} ranks, but there are {}: start as many", named, ranks));
}

// Opened before the run: a wrong path must not cost its results.
std::ofstream open_json(const std::string& file, int rank) {
  std::ofstream out;
  if (rank == 0 && !file.empty()) out.open(file);
  const bool failed = rank == 0 && !file.empty() && !out;
  tools::agree(MPI_COMM_WORLD, failed ? fmt::format("cannot write '{}'; check --json", file) : "");
  return out;
}

void run(const Options& options, int rank, int argc, char** argv) {
  check_fake_nodes(options.fake_nodes);
  std::ofstream json = open_json(options.json_file, rank);
  lists_of(options, MPI_COMM_WORLD);  // a broken list is reported before anything is printed
  MPI_Comm tide_comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &tide_comm);
  // Errors of the library come back with a message; the baselines' MPI calls stay fatal.
  MPI_Comm_set_errhandler(tide_comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const Facts facts = gather_facts(tide_comm, argc, argv);
  if (rank == 0) fmt::print("{}", facts_text(facts, options));
  const std::vector<Result> results = run_all(options, tide_comm);
  if (json.is_open()) {
    json << to_json(facts, options, results).dump(1) << '\n';
    json.close();
  }
  const bool failed = rank == 0 && !options.json_file.empty() && !json;
  tools::agree(
      MPI_COMM_WORLD,
      failed ? fmt::format("writing '{}' failed; is the disk full?", options.json_file) : "");
  MPI_Comm_free(&tide_comm);
}

// A failure that other ranks may not know of: they would wait for ever.  The first rank's words
// are enough, as a rule all ranks have the same.
[[noreturn]] void abort_all(int rank, const char* message) {
  if (rank != 0) sleep(1);
  fmt::print(stderr, "tide-perf: rank {}: {}\n", rank, message);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_kept_memory(argv);
  const Parsed parsed = parse_options(argc, argv);
  if (!parsed.options.fake_nodes.empty())
    setenv("TIDE_FAKE_NODES", parsed.options.fake_nodes.c_str(), 1);
  start_mpi(&argc, &argv);
  int rank = 0, exit_code = parsed.exit_code;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string text = parsed.text;
  try {
    if (parsed.run) run(parsed.options, rank, argc, argv);
  } catch (const tools::AgreedError& e) {
    text = fmt::format("tide-perf: {}\n", e.what());
    exit_code = 1;
  } catch (const std::invalid_argument& e) {  // thrown on all ranks alike: input, not luck
    text = fmt::format("tide-perf: {}\n", e.what());
    exit_code = 1;
  } catch (const std::exception& e) {
    abort_all(rank, e.what());
  }
  if (rank == 0) fmt::print(exit_code == 0 ? stdout : stderr, "{}", text);
  std::fflush(nullptr);
  MPI_Finalize();
  return exit_code;
}
