// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>

#include "agreement.hpp"

namespace perf {
namespace {

double time_one(MPI_Comm comm, const Contestant& contestant) {
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  contestant.run();
  return MPI_Wtime() - begin;
}

void slowest_of_ranks(MPI_Comm comm, std::vector<double>& seconds) {
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX,
                comm);
}

// The same on all ranks, and unlike std::shuffle the same with every standard library.
void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

}  // namespace

Progress::Progress(int rank)
    : speaks_(rank == 0), terminal_(isatty(STDERR_FILENO) == 1), begin_(MPI_Wtime()) {
  next_ = begin_ + (terminal_ ? 0.2 : 5);
}

Progress::~Progress() {
  if (wrote_ && terminal_) std::fputs("\r\033[K", stderr);
}

void Progress::say(const std::string& what, int done, int all) {
  const double now = MPI_Wtime();
  if (!speaks_ || now < next_) return;
  next_ = now + (terminal_ ? 0.2 : 5);
  fmt::print(stderr, "{}tide-perf: {} {}/{}, {:.0f} s{}", terminal_ ? "\r\033[K" : "", what, done,
             all, now - begin_, terminal_ ? "" : "\n");
  std::fflush(stderr);
  wrote_ = true;
}

void verify_all(MPI_Comm comm, const std::vector<Contestant>& contestants, const char* when) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  for (const Contestant& c : contestants) {
    if (!c.refused.empty()) continue;
    c.clear();
    MPI_Barrier(comm);
    c.run();
    MPI_Barrier(comm);
    const std::string wrong = c.verify();
    tools::agree(comm, wrong.empty() ? ""
                                     : fmt::format("{}: wrong result {} on rank {}: {}", c.name,
                                                   when, rank, wrong));
  }
}

std::vector<std::vector<double>> measure(MPI_Comm comm, const std::vector<Contestant>& contestants,
                                         int warmup, int reps, std::uint64_t seed,
                                         Progress& progress) {
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < contestants.size(); ++c)
    if (contestants[c].refused.empty()) order.push_back(c);
  std::vector<std::vector<double>> samples(contestants.size());
  std::mt19937_64 random(seed);
  for (int rep = -warmup; rep < reps; ++rep) {
    shuffle(order, random);
    for (const std::size_t c : order) {
      const double seconds = time_one(comm, contestants[c]);
      if (rep >= 0) samples[c].push_back(seconds);
    }
    progress.say("repetition", rep + warmup + 1, warmup + reps);
  }
  for (auto& s : samples) slowest_of_ranks(comm, s);
  return samples;
}

std::vector<double> measure_first(MPI_Comm comm, const Contestant& contestant, int calls) {
  std::vector<double> samples;
  for (int call = 0; call < calls; ++call) samples.push_back(time_one(comm, contestant));
  slowest_of_ranks(comm, samples);
  return samples;
}

}  // namespace perf
