// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <mpix_tide.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "agreement.hpp"
#include "launch.hpp"
#include "run.hpp"
#include "step_memory.hpp"
#include "tool.hpp"

namespace {

using namespace perf;

void check_fake_nodes(const std::string& list) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto named = 1 + std::count(list.begin(), list.end(), ',');
  if (!list.empty() && named != ranks)
    throw std::invalid_argument(
        fmt::format("--fake-nodes names {} ranks, but there are {}: start as many", named, ranks));
}

void check_processes(const Options& options) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (options.in_process > 0 && ranks > 1)
    throw std::invalid_argument(
        fmt::format("--in-process {} is for one process, but there are {}: start one (mpirun -n 1)",
                    options.in_process, ranks));
}

// Opened before the run: a wrong path must not cost its results.
std::ofstream open_json(const std::string& file, int rank) {
  std::ofstream out;
  std::string problem;
  if (rank == 0 && !file.empty()) problem = tools::write_problem(file);
  tools::agree(MPI_COMM_WORLD, problem.empty() ? "" : problem + "; check --json");
  if (rank == 0 && !file.empty()) out.open(file);
  return out;
}

// At their real size, unless scaled.
std::vector<ParamList> real_lists(const Options& options) {
  std::vector<ParamList> lists;
  for (const std::string& name : options.models)
    lists.push_back(model_list(name, options.scale > 0 ? options.scale : 1, MPIX_TIDE_BF16));
  return lists;
}

void run(const Options& options, int rank, int argc, char** argv) {
  check_fake_nodes(options.fake_nodes);
  check_processes(options);
  std::ofstream json = open_json(options.json_file, rank);
  lists_of(options, MPI_COMM_WORLD);  // a broken list is reported before anything is printed
  MPI_Comm tide_comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &tide_comm);
  // Errors of the library come back with a message; the baselines' MPI calls stay fatal.
  MPI_Comm_set_errhandler(tide_comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  // Before the library's first call: it then knows that this process uses a device.
  const gpu::Session gpu = gpu::open_session(options, MPI_COMM_WORLD);
  const Facts facts = gather_facts(tide_comm, gpu, argc, argv);
  if (rank == 0) fmt::print("{}", facts_text(facts, options));
  const std::vector<Result> results = run_all(options, gpu, tide_comm);
  if (json.is_open()) {
    json << to_json(facts, options, results)
                .dump(1, ' ', false, nlohmann::json::error_handler_t::replace)
         << '\n';
    json.close();
  }
  const bool failed = rank == 0 && !options.json_file.empty() && !json;
  tools::agree(
      MPI_COMM_WORLD,
      failed ? fmt::format("writing '{}' failed; is the disk full?", options.json_file) : "");
  MPI_Comm_free(&tide_comm);
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_kept_memory(argv);
  Options options;
  tools::Parsed parsed = parse_options(argc, argv, options);
  if (parsed.run && options.step_memory) {  // needs no job
    parsed.run = false;
    parsed.text = step_memory_text(real_lists(options));
  }
  if (!options.fake_nodes.empty()) setenv("TIDE_FAKE_NODES", options.fake_nodes.c_str(), 1);
  return tools::run_tool({"tide-perf", options.overlap}, argc, argv, parsed, [&](int rank) {
    run(options, rank, argc, argv);
    return 0;
  });
}
