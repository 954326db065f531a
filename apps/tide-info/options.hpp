// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace info {

struct Options {
  bool topology = false, paths = false, config = false, environment = false;  // sections
  bool json = false;
};

/// What the command line asks for: a run, or a text and an exit code.
struct Parsed {
  Options options;
  bool run = false;
  int exit_code = 0;
  std::string text;
};

/// Local, without MPI and without output, so that all ranks come to the same end.
Parsed parse_options(int argc, char** argv);

}  // namespace info
