// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Programs that were meant to be the ranks of one job, and are jobs of one rank each: srun without
// the right PMI, or the mpiexec of another MPI.  Everything "works" then, on a fraction of the
// data.  And ranks that are bound to one core each, which a progress thread then has to share.
#pragma once
#include <functional>
#include <string>

namespace tide {

using Lookup = std::function<const char*(const char* variable)>;  // as getenv

// What is wrong and the remedy, or "".  mpi: the MPI that this program is linked with.
std::string launch_mistake(int world_size, const std::string& mpi, const Lookup& environment);

void check_launch();  // of this process: warns once

// The same of a process with a progress thread on so many CPUs.
std::string binding_mistake(int cpus, const std::string& mpi, const Lookup& environment);
void check_binding(int rank);  // of this thread: warns once

}  // namespace tide
