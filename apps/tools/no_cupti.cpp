// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include "cupti.hpp"

// A build without CUPTI's header.
namespace tools {

struct Cupti::Api {};

Cupti::Cupti(const std::string&) {
  throw std::runtime_error(
      "CUPTI left out: this Tide was built without its header; install it (cupti.h, of the CUDA "
      "toolkit) "
      "and "
      "configure again");
}
Cupti::~Cupti() = default;
std::string Cupti::version() const { return ""; }
std::vector<Activity> Cupti::take() { return {}; }
void Cupti::discard() {}

}  // namespace tools
