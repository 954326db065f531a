// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// One file in safetensors form that holds a training run between two batches: masters by their
// names, moments as adam.m.NAME and adam.v.NAME (of the reference: reference.NAME), and as metadata
// under the key tide-train where the run stands.  It does not depend on the number of ranks.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "trainer.hpp"

namespace train {

/// Collective.  Replaces the file in one step: a crash leaves the old one or the new one.
void save_checkpoint(MPI_Comm comm, const Options& options, const std::vector<Trainer*>& trainers);
/// Collective.  False where the file does not exist.
bool load_checkpoint(MPI_Comm comm, const Options& options, const std::vector<Trainer*>& trainers);

}  // namespace train
