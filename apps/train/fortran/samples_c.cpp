// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The samples of tide-train for Fortran: reading and normalising the data is not shown twice.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <sstream>

#include "blas.hpp"
#include "grid.hpp"
#include "samples.hpp"

namespace {

std::unique_ptr<train::Samples> samples;  // of the one run of this process

}  // namespace

extern "C" {

/// Collective.  vars: names separated by commas.  A failure ends the job, with a message.
void train_open_samples(MPI_Fint comm, const char* path, const char* vars, double holdout,
                        int harmonics, int64_t sizes[4]) {
  const MPI_Comm c = MPI_Comm_f2c(comm);
  try {
    train::use_one_blas_thread();
    std::vector<std::string> names;
    std::istringstream list(vars);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    samples =
        std::make_unique<train::Samples>(train::read_grid_once(c, path, names), holdout, harmonics);
  } catch (const std::exception& error) {
    int rank;
    MPI_Comm_rank(c, &rank);
    if (rank == 0) std::fprintf(stderr, "tide-train-fortran: %s\n", error.what());
    MPI_Barrier(c);  // all ranks fail alike
    MPI_Finalize();
    std::exit(2);
  }
  sizes[0] = samples->inputs();
  sizes[1] = samples->outputs();
  sizes[2] = int64_t(samples->training().size());
  sizes[3] = int64_t(samples->validation().size());
}

/// Fills the lists of cells.
void train_cells(int64_t* training, int64_t* validation) {
  std::copy(samples->training().begin(), samples->training().end(), training);
  std::copy(samples->validation().begin(), samples->validation().end(), validation);
}

/// x [count x inputs], y [count x outputs] (NaN: missing).
void train_assemble(const int64_t* cells, int64_t count, float* x, float* y) {
  samples->assemble(cells, count, x, y);
}

}  // extern "C"
