// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "options.hpp"
#include "results.hpp"

namespace perf {

/// All lists and collectives that the options name, in turn; rank 0 prints each block when it is
/// done.  Collective over MPI_COMM_WORLD.  Throws AgreedError on all ranks or, for a failure that
/// only some ranks may see, any other exception.
std::vector<Result> run_all(const Options& options, const gpu::Session& gpu, MPI_Comm tide_comm);

/// The lists, or std::invalid_argument on all ranks.  Collective (a file is read on rank 0).
std::vector<ParamList> lists_of(const Options& options, MPI_Comm comm);

}  // namespace perf
