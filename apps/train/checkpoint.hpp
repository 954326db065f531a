// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// One file that holds a training run between two batches:
//   8 bytes "TIDETRN1", 8 bytes length of the header (little-endian), the header (JSON: version,
//   shapes, seed, where each model stands), then for each model, layer, weight and bias: master,
//   first and second moment, fp32, all rows.  It does not depend on the number of ranks.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "trainer.hpp"

namespace train {

/// Where a checkpoint is written before it takes its place.
std::string checkpoint_part(const std::string& path);

/// Collective.  Replaces the file in one step: a crash leaves the old one or the new one.
void save_checkpoint(MPI_Comm comm, const Options& options, const Samples& samples,
                     const std::vector<Trainer*>& trainers);
/// Collective.  False where the file does not exist.
bool load_checkpoint(MPI_Comm comm, const Options& options, const Samples& samples,
                     const std::vector<Trainer*>& trainers);

}  // namespace train
