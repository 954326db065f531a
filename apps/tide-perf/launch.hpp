// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What has to be settled before MPI starts.
namespace perf {

/// Starts this program anew with glibc's allocator told to keep its memory, unless it already is.
/// MPI's collectives allocate inside, and a page that is mapped afresh costs 15 us or more: without
/// this the baselines would be measured as page faults.  The variables are read by the C library
/// before main(), hence the second start; arguments, environment and the launcher's descriptors
/// survive it.  Returns only where nothing is to be done or exec fails.
void restart_with_kept_memory(char** argv);

}  // namespace perf
