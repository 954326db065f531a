// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace CLI {
class App;
}

// What the tools' main() functions have in common.  Errors have one form, "NAME: what; remedy", are
// said once, and end the program with failure_code on every rank.
namespace tools {

constexpr int failure_code = 2;

/// What the command line asks for: a run, or a text and an exit code.
struct Parsed {
  bool run = false;
  int exit_code = 0;
  std::string text;
};

/// Local, without MPI and without output, so that all ranks come to the same end.  `problem` says
/// what the parser cannot see, empty if all is well.
Parsed parse(CLI::App& app, int argc, char** argv,
             const std::function<std::string()>& problem = {});

/// A check for options that take a number: finite, and above (or at) zero.
std::string positive_number(const std::string& word);
std::string non_negative_number(const std::string& word);

/// Empty if `file` can be written, else why not.  Creates nothing that was not there.
std::string write_problem(const std::string& file);

struct Tool {
  const char* name;
  bool threads = false;  // asks MPI for MPI_THREAD_MULTIPLE, which TIDE_PROGRESS=thread needs too
};

/// From MPI_Init to MPI_Finalize: runs `body(rank)`, whose result is the exit code, if parsed.run,
/// else prints parsed.text (without a launcher: without MPI).  An AgreedError and
/// std::invalid_argument are thrown on all ranks alike; any other exception may be one rank's own
/// and aborts the job.
int run_tool(const Tool& tool, int argc, char** argv, const Parsed& parsed,
             const std::function<int(int rank)>& body);

}  // namespace tools
