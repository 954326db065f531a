// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// tide-train: a surrogate of real observations, trained by MPI ranks that shard its parameters.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <stdexcept>

#include "blas.hpp"
#include "checkpoint.hpp"
#include "failure.hpp"
#include "field_task.hpp"
#include "options.hpp"
#include "output.hpp"
#include "setup.hpp"
#include "tool.hpp"
#include "trainer.hpp"

namespace train {
namespace {

struct Run {
  MPI_Comm comm;
  int rank = 0, ranks = 1;
  const Options& options;
  std::vector<Trainer*> trainers;  // in the order of the columns
};

template <class... A>
void say(const Run& run, fmt::format_string<A...> format, A&&... values) {
  if (run.rank != 0) return;
  fmt::print(format, std::forward<A>(values)...);
  std::fflush(stdout);
}

void introduce(const Run& run) {
  Trainer& first = *run.trainers[0];
  say(run, "tide-train: {} ranks; {}\n", run.ranks, first.task().describe());
  say(run, "{} layers of width {}, {} parameters; {} batches of {} per epoch\n",
      first.weights().layers().size(), run.options.width, first.weights().architecture().elems(),
      first.batches(), run.options.batch);
  if (run.options.models == Models::reference) return;
  if (run.options.stock)
    say(run, "sharded by stock collectives: MPI_Allgather and MPI_Reduce_scatter\n");
  else
    say(run, "pipeline: {}, prefetch {}, replicas {}\n",
        run.options.slot_reuse ? "slot-reuse" : "in-place", run.options.prefetch,
        run.options.replicas);
}

void print_columns(const Run& run) {
  say(run, "{:>5} {:>7}", "epoch", "step");
  for (Trainer* t : run.trainers)
    say(run, " | {:>10}: training validation seconds comm", t->name());
  say(run, "\n");
}

void print_epoch(const Run& run, int64_t epoch, const std::vector<Clock>& before) {
  say(run, "{:>5} {:>7}", epoch, run.trainers[0]->state().step);
  for (size_t m = 0; m < run.trainers.size(); ++m) {
    const Score& score = run.trainers[m]->state().history.back();
    const Clock now = run.trainers[m]->clock();
    const double seconds = now.seconds - before[m].seconds;
    const double comm = now.comm_seconds - before[m].comm_seconds;
    say(run, " | {:>20.5f} {:>10.5f} {:>7.2f} {:>3.0f}%", score.training_loss,
        score.validation_loss, seconds, seconds > 0 ? 100 * comm / seconds : 0.0);
  }
  say(run, "\n");
}

// AdamW does not see a wrong scale of the gradient, and two curves may agree by luck: so the first
// gradients are compared as well.  bf16 keeps 8 bits, hence differences of about 0.2 %.
void compare_gradients(const Run& run) {
  Trainer &sharded = *run.trainers[0], &reference = *run.trainers[1];
  sharded.probe_gradient();
  reference.probe_gradient();
  double sums[2] = {0, 0};  // squares of the difference and of the reference
  for (size_t p = 0; p < sharded.weights().pieces().size(); ++p) {
    const Piece &ours = sharded.weights().pieces()[p], &theirs = reference.weights().pieces()[p];
    const float* full = theirs.grad + ours.first_elem();
    for (int64_t e = 0; e < ours.own_elems(); ++e) {
      sums[0] += std::pow(double(ours.grad[e]) - full[e], 2);
      sums[1] += std::pow(double(full[e]), 2);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, run.comm);
  const double difference = std::sqrt(sums[0] / sums[1]);
  say(run, "first gradient: sharded (bf16) and reference (fp32) differ by {:.3f} %\n",
      100 * difference);
  if (!(difference < 0.02))
    throw AgreedError(fmt::format(
        "the sharded gradient differs from the reference's by {:.2f} % (rounding explains 2 %): "
        "reduce-scatter or all-gather is wrong; see MPIX_Tide_group_report",
        100 * difference));
}

// True: all epochs are done.
bool train_all(const Run& run) {
  const Options& o = run.options;
  int64_t done_now = 0;
  bool saved = false;
  std::vector<Clock> before(run.trainers.size());
  while (!std::all_of(run.trainers.begin(), run.trainers.end(),
                      [](Trainer* t) { return t->finished(); })) {
    // After a stop amid an epoch one model may be ahead of the other.
    int64_t epoch = run.trainers[0]->state().epoch;
    for (Trainer* t : run.trainers) epoch = std::min(epoch, t->state().epoch);
    for (size_t m = 0; m < run.trainers.size(); ++m) {
      Trainer& t = *run.trainers[m];
      before[m] = t.clock();
      if (t.state().epoch > epoch || t.run_epoch()) continue;
      save_checkpoint(run.comm, o, run.trainers);
      say(run, "stopped by a signal in epoch {}; saved in {}\n", epoch + 1, o.checkpoint);
      return false;
    }
    print_epoch(run, ++epoch, before);
    saved = false;
    const bool stop = o.stop_after > 0 && ++done_now == o.stop_after;
    if (!o.checkpoint.empty() && (epoch % o.checkpoint_every == 0 || stop)) {
      save_checkpoint(run.comm, o, run.trainers);
      saved = true;
    }
    if (stop && !run.trainers.back()->finished()) {
      say(run, "stopped after {} epochs as asked; saved in {}\n", done_now, o.checkpoint);
      return false;
    }
  }
  if (!o.checkpoint.empty() && !saved) save_checkpoint(run.comm, o, run.trainers);
  return true;
}

bool print_result(const Run& run) {
  for (Trainer* t : run.trainers) {
    const Score& score = t->state().history.back();
    const Clock clock = t->clock();
    say(run, "{}: validation loss {:.6f} after {} epochs; {:.1f} s, {:.0f} % of it communication\n",
        t->name(), score.validation_loss, score.epoch, clock.seconds,
        clock.seconds > 0 ? 100 * clock.comm_seconds / clock.seconds : 0.0);
    const std::vector<Measure>& measures = t->task().measures();
    for (size_t n = 0; n < measures.size(); ++n)
      if (measures[n].deviation > 0)
        say(run, "    {:<8} RMSE {:8.4f} {:<8} (deviation of the field: {:.3f})\n",
            measures[n].name, score.measures[n], measures[n].units, measures[n].deviation);
      else
        say(run, "    {:<8} {:.4f} {}\n", measures[n].name, score.measures[n], measures[n].units);
    say(run, "{}", draw_breakdown(run.comm, t->times(), t->memory()));
  }
  if (run.trainers.size() < 2) return true;
  const double ours = run.trainers[0]->state().history.back().validation_loss;
  const double theirs = run.trainers[1]->state().history.back().validation_loss;
  const double percent = 100 * (ours / theirs - 1);
  say(run, "sharded against reference: {:+.2f} % validation loss\n", percent);
  if (run.options.tolerance_percent == 0 || std::abs(percent) <= run.options.tolerance_percent)
    return true;
  say(run, "this is more than --tolerance {}\n", run.options.tolerance_percent);
  return false;
}

void write_results(const Run& run, bool whole, const Samples* samples) {
  on_first_rank(run.comm, [&] { write_csv(run.options, run.trainers); });
  write_steps(run.comm, run.options, run.trainers);
  write_times(run.comm, run.options, run.trainers, whole && run.options.plot);
  if (!whole || !run.options.plot) return;
  if (samples) {
    const Grid& grid = samples->grid();
    std::vector<int64_t> cells(grid.cells() / grid.times());
    std::iota(cells.begin(), cells.end(), 0);
    Trainer& first = *run.trainers[0];
    const std::vector<float> predicted =
        static_cast<FieldTask&>(first.task()).predict(first.weights(), cells, run.rank);
    on_first_rank(run.comm, [&] { write_map(run.options, *samples, cells, predicted); });
  }
  on_first_rank(run.comm, [&] { write_script(run.options, samples, run.trainers); });
}

// Collective; the exit code.  draw_later: there is a picture to draw.
int train_and_report(MPI_Comm comm, const Options& options, bool* draw_later) {
  const Source source(comm, options);
  const auto owned = make_trainers(comm, source, options);
  Run run{comm, 0, 1, options, {}};
  MPI_Comm_rank(comm, &run.rank);
  MPI_Comm_size(comm, &run.ranks);
  for (auto& t : owned) run.trainers.push_back(t.get());
  bool resumed = false;
  if (!options.checkpoint.empty()) {
    catch_signals();
    resumed = load_checkpoint(comm, options, run.trainers);
  }
  introduce(run);
  if (resumed)
    say(run, "continued from {}: epoch {}, step {}\n", options.checkpoint,
        run.trainers[0]->state().epoch, run.trainers[0]->state().step);
  else if (run.trainers.size() == 2 && !options.exact_reference)
    compare_gradients(run);
  print_columns(run);
  const bool whole = train_all(run);
  const bool close = !whole || print_result(run);
  write_results(run, whole, options.model == Model::perceptron ? source.samples.get() : nullptr);
  *draw_later = whole && options.plot && run.rank == 0;
  return close ? 0 : 1;
}

// What would only be found out after the training: paths that cannot be written.
void check_paths(MPI_Comm comm, const Options& o) {
  const auto check = [](const std::string& file, const char* option) {
    const std::string problem = tools::write_problem(file);
    if (!problem.empty()) throw std::runtime_error(problem + "; check " + option);
  };
  on_first_rank(comm, [&] {
    for (const std::string ending : {".csv", ".map.csv", ".gp"})
      if (o.plot || ending == ".csv") check(o.out + ending, "--out");
    if (o.step_log) check(o.out + ".steps.csv", "--out");
    if (o.checkpoint.empty()) return;
    check(o.checkpoint, "--checkpoint");
  });
}

int run_program(const Options& options, bool* draw_later) {
  use_one_blas_thread();
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  check_paths(comm, options);
  const int exit_code = train_and_report(comm, options, draw_later);
  MPI_Comm_free(&comm);
  return exit_code;
}

}  // namespace
}  // namespace train

int main(int argc, char** argv) {
  train::Options options;
  bool draw_later = false;
  const tools::Parsed parsed = train::parse_options(argc, argv, options);
  const int exit_code = tools::run_tool({"tide-train"}, argc, argv, parsed, [&](int) {
    return train::run_program(options, &draw_later);
  });
  if (draw_later) train::draw(options);  // a process is forked here, which MPI need not allow
  return exit_code;
}
