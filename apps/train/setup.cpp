// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "setup.hpp"

#include <functional>

#include "field_task.hpp"

namespace train {

Source::Source(MPI_Comm comm, const Options& o) {
  MPI_Comm_size(comm, &ranks);
  if (o.text.empty())
    samples =
        std::make_unique<Samples>(read_grid_once(comm, o.data, o.vars), o.holdout, o.harmonics);
  if (o.model == Model::transformer)
    text = o.text.empty() ? field_tracks(*samples, o.data) : read_text(comm, o.text);
}

std::unique_ptr<Task> Source::make_task(const Options& o) const {
  if (o.model == Model::transformer) return std::make_unique<TextTask>(text, o, ranks);
  return std::make_unique<FieldTask>(*samples, o);
}

namespace {

using MakeWeights = std::function<std::unique_ptr<Weights>(const Architecture&)>;

std::unique_ptr<Trainer> make_trainer(MPI_Comm comm, const Source& source, const Options& options,
                                      const char* name, const MakeWeights& make) {
  MPI_Barrier(comm);  // so that shared memory is counted alike
  const int64_t before = proportional_set();
  MPI_Barrier(comm);
  std::unique_ptr<Task> task = source.make_task(options);
  std::unique_ptr<Weights> weights = make(task->architecture());
  auto trainer =
      std::make_unique<Trainer>(comm, options, std::move(task), std::move(weights), name);
  MPI_Barrier(comm);
  trainer->add_measured(proportional_set() - before);
  return trainer;
}

}  // namespace

std::vector<std::unique_ptr<Trainer>> make_trainers(MPI_Comm comm, const Source& source,
                                                    const Options& o) {
  std::vector<std::unique_ptr<Trainer>> trainers;
  if (o.models != Models::reference)
    trainers.push_back(
        make_trainer(comm, source, o, "sharded", [&](const Architecture& architecture) {
          return o.stock ? make_stock(comm, architecture) : make_sharded(comm, architecture, o);
        }));
  if (o.models != Models::sharded)
    trainers.push_back(
        make_trainer(comm, source, o, "reference", [&](const Architecture& architecture) {
          return make_replicated(comm, architecture, o.exact_reference);
        }));
  return trainers;
}

}  // namespace train
