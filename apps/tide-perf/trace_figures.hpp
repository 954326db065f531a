// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "activity.hpp"

// What one call made a device do, in numbers.
namespace perf {

/// Work that may hold some multiprocessors from begin to end.
struct Occupied {
  std::uint64_t begin_ns, end_ns;
  std::int64_t multiprocessors;
};

/// Multiprocessor-seconds: the multiprocessors that are held at a time, at most all `there_are`,
/// summed over the time.
double occupied_s(const std::vector<Occupied>& spans, std::int64_t there_are);

enum TraceFigure {
  kernels,        // launched
  engine_copies,  // by copy engines
  engine_bytes,
  sm_copies,  // by multiprocessors
  sm_bytes,
  engine_sets,  // memsets
  sm_sets,
  sm_s,         // multiprocessor-seconds of all of them
  kernel_sm_s,  // of the kernels alone
  call_s,       // from a barrier until the call returned, recorded as it was
  trace_figures
};
using TraceFigures = std::array<double, trace_figures>;

/// A kernel holds as many multiprocessors as it has blocks, at most all; a copy or memset that is
/// no copy engine's, whose blocks nobody tells, all of them.  A bound from above: blocks may be
/// short, or share a multiprocessor.  Leaves call_s 0.
TraceFigures figures_of(const std::vector<tools::Activity>& activities,
                        std::int64_t multiprocessors);

}  // namespace perf
