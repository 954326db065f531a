// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Everything mixed, for as long as it is asked to: communicators, groups and memory made and freed
// in random order, calls of all kinds, errors in between.  Every result is compared with the
// definition; at the end nothing may have added up since round 100.
//   mpiexec -n N soak --seconds S --seed X
// All ranks draw from one sequence, so that they make the same calls; a failure replays by its
// seed.
#include <cstring>

#include "soak_steps.hpp"
#include "usage.hpp"

namespace tide_test {
namespace {

constexpr int settled_round = 100, least_rounds = 150;  // also where the machine is slow

bool still_time(double started_s, double seconds, int round) {
  int go_on = (MPI_Wtime() - started_s < seconds || round < least_rounds) && !failed();
  MPI_Allreduce(MPI_IN_PLACE, &go_on, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return go_on != 0;
}

void compare(const Usage& settled, const Usage& end, int rounds) {
  EXPECT_EQ(settled.descriptors, end.descriptors);
  EXPECT_EQ(settled.threads, end.threads);
  EXPECT_EQ(settled.segments, end.segments) << "mappings of Tide's memory";
  EXPECT_LE(end.maps, settled.maps + 16) << "mappings";
  EXPECT_EQ(settled.shm, end.shm) << "Tide's entries of /dev/shm";
  EXPECT_LT(end.resident, settled.resident + (8 << 20))
      << "resident bytes, " << settled.resident << " after round " << settled_round << ", after "
      << rounds << " rounds";
}

Usage usage(Soak& steps) {
  steps.free_everything();
  sync(world());
  return Usage();
}

// A process keeps its UCX workers, one for each device that it was given, and a connection to each
// process that it has met there; who is given which depends on who is there, in which order.
// Before the count all have been in all company.
void be_in_all_company() {
  for (int members = 1; members < 1 << world().size; ++members)
    for (const int sign : {1, -1}) {
      const bool mine = members >> world().rank & 1;
      const Comm comm(split(MPI_COMM_WORLD, mine ? 0 : -1, sign * world().rank));
      if (mine) check_allgather(List(team_of(comm), {param(64, 64)}));
    }
}

void soak(double seconds, uint64_t seed) {
  const double started_s = MPI_Wtime();
  double told_s = started_s;
  Usage settled;
  Soak steps(seed);
  be_in_all_company();
  int round = 0;
  for (; still_time(started_s, seconds, round); ++round) {
    if (round == settled_round) {
      settled = usage(steps);
    }
    for (int i = 0; i < 4; ++i) steps.step();
    alarm(120);  // a hang is a failure
    if (world().rank == 0 && MPI_Wtime() - told_s >= 10) {
      told_s = MPI_Wtime();
      std::printf("%4.0f s: %s\n", told_s - started_s, steps.progress(round).c_str());
      std::fflush(stdout);
    }
  }
  const Usage end = usage(steps);
  if (round > settled_round) compare(settled, end, round);
  if (world().rank == 0) std::printf("%s\n", steps.progress(round).c_str());
}

}  // namespace
}  // namespace tide_test

int main(int argc, char** argv) {
  double seconds = 20;
  uint64_t seed = 1;
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seconds") == 0) seconds = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  tide_test::soak(seconds, seed);
  int bad = tide_test::failed();
  MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (bad && tide_test::world().rank == 0)
    std::printf("FAILED; replay with --seed %llu\n", static_cast<unsigned long long>(seed));
  MPI_Finalize();
  return bad;
}
