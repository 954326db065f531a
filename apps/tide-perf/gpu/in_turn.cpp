// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/in_turn.hpp"

#include <algorithm>

namespace perf::gpu {

double largest(MPI_Comm comm, double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
  return value;
}

double time_alone(MPI_Comm comm, Victim& victim) {
  MPI_Barrier(comm);
  victim.launch();
  return largest(comm, victim.seconds());
}

double time_calls(MPI_Comm comm, const Contestant& c, int calls) {
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  for (int call = 0; call < calls; ++call) c.run();
  return largest(comm, (MPI_Wtime() - begin) / calls);
}

int calls_between(MPI_Comm comm, const Contestant& c, const Pace& pace) {
  constexpr double agree_every_s = 1e-3;
  time_calls(comm, c, 2);
  const double call_s = std::max(time_calls(comm, c, 5), pace.interval_s);
  return std::clamp(static_cast<int>(agree_every_s / call_s), 1, 1000);
}

static void wait_until(double when) {
  while (MPI_Wtime() < when) {
  }
}

Beside time_beside(MPI_Comm comm, Victim& victim, const Contestant& c, int between,
                   const Pace& pace) {
  MPI_Barrier(comm);
  victim.launch();
  const double begin = MPI_Wtime();
  double last_s = 1;
  int counted = 0, started = 0;
  for (int running = 1; running != 0;) {
    for (int call = 0; call < between; ++call) {
      wait_until(begin + pace.start_s(started++));
      c.run();
      const bool first = counted == 0;
      if (!first && !victim.running()) continue;
      ++counted;  // the first call counts even if it is the longer one
      last_s = MPI_Wtime() - begin;
    }
    running = victim.running() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &running, 1, MPI_INT, MPI_MAX, comm);
  }
  const double seconds_a_call = largest(comm, pace.seconds_a_call(counted, last_s));
  return {largest(comm, victim.seconds()), 1 / seconds_a_call};
}

}  // namespace perf::gpu
