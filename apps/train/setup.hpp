// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// From options to what is trained.
#pragma once
#include <mpi.h>

#include <memory>
#include <vector>

#include "samples.hpp"
#include "text_task.hpp"
#include "trainer.hpp"

namespace train {

/// What there is to learn: fields, or a text.
struct Source {
  std::unique_ptr<Samples> samples;
  Text text;
  int ranks = 1;
  /// Collective: rank 0 reads.
  Source(MPI_Comm comm, const Options& options);
  std::unique_ptr<Task> make_task(const Options& options) const;
};

/// Collective: the models in the order of their columns.  Source and options must outlive them.
std::vector<std::unique_ptr<Trainer>> make_trainers(MPI_Comm comm, const Source& source,
                                                    const Options& options);

}  // namespace train
