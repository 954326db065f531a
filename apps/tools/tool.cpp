// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tool.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "agreement.hpp"

namespace tools {
namespace {

std::string number_problem(const std::string& word, bool zero_too) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  const bool good = !word.empty() && *end == '\0' && std::isfinite(value) && value >= 0;
  if (good && (zero_too || value > 0)) return "";
  return fmt::format("'{}' is no finite number {} 0", word, zero_too ? ">=" : ">");
}

// Other ranks may not know of the failure, and would wait for ever.  As a rule all ranks have the
// same to say: rank 0 says it.
[[noreturn]] void abort_all(const char* name, int rank, const char* message) {
  if (rank != 0) sleep(1);
  fmt::print(stderr, "{}: rank {}: {}\n", name, rank, message);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, failure_code);
  std::abort();
}

// A launcher tells its processes who they are in one of these.
bool launched() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PALS_RANKID",
                           "SLURM_PROCID", "MV2_COMM_WORLD_RANK", "FLUX_TASK_RANK"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

}  // namespace

Parsed parse(CLI::App& app, int argc, char** argv, const std::function<std::string()>& problem) {
  Parsed parsed;
  try {
    app.parse(argc, argv);
    if (problem) parsed.text = problem();
    parsed.run = parsed.text.empty();
    parsed.exit_code = parsed.run ? 0 : failure_code;
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, err;
    parsed.exit_code = app.exit(e, out, err) == 0 ? 0 : failure_code;
    parsed.text = parsed.exit_code == 0 ? out.str() : e.what();
  }
  if (parsed.exit_code != 0)
    parsed.text = fmt::format("{}: {} (--help explains)\n", app.get_name(), parsed.text);
  return parsed;
}

std::string positive_number(const std::string& word) { return number_problem(word, false); }
std::string non_negative_number(const std::string& word) { return number_problem(word, true); }

std::string write_problem(const std::string& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) return fmt::format("'{}' is a directory", file);
  const bool was_there = std::filesystem::exists(file, error);
  std::FILE* opened = std::fopen(file.c_str(), "ab");
  if (opened == nullptr) return fmt::format("cannot write '{}': {}", file, std::strerror(errno));
  std::fclose(opened);
  if (!was_there) std::filesystem::remove(file, error);
  return "";
}

int run_tool(const Tool& tool, int argc, char** argv, const Parsed& parsed,
             const std::function<int(int)>& body) {
  if (!parsed.run && !launched()) {  // --help where MPI may not start at all
    fmt::print(parsed.exit_code == 0 ? stdout : stderr, "{}", parsed.text);
    return parsed.exit_code;
  }
  const char* progress = std::getenv("TIDE_PROGRESS");
  const bool threads = tool.threads || (progress != nullptr && std::string(progress) == "thread");
  int provided = 0, rank = 0, exit_code = parsed.exit_code;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string text = parsed.text;
  const auto fail = [&](const char* message) {
    text = fmt::format("{}: {}\n", tool.name, message);
    exit_code = failure_code;
  };
  try {
    if (parsed.run) exit_code = body(rank);
  } catch (const AgreedError& e) {
    fail(e.what());
  } catch (const std::invalid_argument& e) {
    fail(e.what());
  } catch (const std::exception& e) {
    abort_all(tool.name, rank, e.what());
  }
  std::fflush(stdout);
  if (rank == 0) fmt::print(text == parsed.text && exit_code == 0 ? stdout : stderr, "{}", text);
  std::fflush(nullptr);
  MPI_Finalize();
  return exit_code;
}

}  // namespace tools
