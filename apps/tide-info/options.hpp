// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rails.hpp"
#include "tool.hpp"

namespace info {

struct Options {
  bool topology = false, paths = false, rails = false, config = false;  // sections
  bool environment = false, engines = false;
  RailOptions rail;
  bool json = false;
};

tools::Parsed parse_options(int argc, char** argv, Options& options);

}  // namespace info
