// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

namespace perf {

void restart_with_kept_memory(char** argv) {
  struct Variable {
    const char *name, *value;
  };
  constexpr std::array<Variable, 3> variables{{{"MALLOC_MMAP_THRESHOLD_", "4294967296"},
                                               {"MALLOC_TRIM_THRESHOLD_", "8589934592"},
                                               {"MALLOC_TOP_PAD_", "67108864"}}};
  bool changed = false;
  for (const Variable& v : variables)
    if (std::getenv(v.name) == nullptr) changed |= setenv(v.name, v.value, 0) == 0;
  if (changed) execv("/proc/self/exe", argv);
}

}  // namespace perf
