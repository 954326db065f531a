// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace tools {

/// A kernel, copy or memset that a device carried out, as CUPTI recorded it.
struct Activity {
  enum Kind { kernel, copy, set };
  Kind kind = kernel;
  // Of a copy or set: its channel is an asynchronous copy engine's.  Anything else is taken to be
  // the multiprocessors' work.
  bool copy_engine = false;
  std::uint32_t device = 0;
  std::uint64_t begin_ns = 0, end_ns = 0;  // both 0: not known
  std::uint64_t bytes = 0;                 // of a copy or set
  std::uint64_t blocks = 0;                // of a kernel's grid
  std::string name;                        // of a kernel, as the linker knows it
};

}  // namespace tools
