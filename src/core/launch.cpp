// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/launch.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <cstdlib>

#include "core/log.hpp"

namespace tide {
namespace {

#if defined(OPEN_MPI)
constexpr const char* this_mpi = "Open MPI";
#elif defined(MPICH_VERSION)
constexpr const char* this_mpi = "MPICH";
#else
constexpr const char* this_mpi = "another MPI";
#endif

// -1: not set, or not a number.
long number(const Lookup& environment, const char* variable) {
  const char* text = environment(variable);
  char* end = nullptr;
  const long value = text ? std::strtol(text, &end, 10) : -1;
  return text && end != text && *end == '\0' && value >= 0 ? value : -1;
}

std::string wrong_mpiexec(const char* variable, long size, const std::string& launcher,
                          const std::string& mpi) {
  const std::string start = fmt::format(
      "MPI_COMM_WORLD has 1 rank, but {} is {}: {}'s mpiexec started {} programs that do not know "
      "of each other",
      variable, size, launcher, size);
  if (launcher == mpi)
    return fmt::format("{}; it is not the mpiexec of the {} that this program is linked with",
                       start, mpi);
  return fmt::format("{}, as this program is linked with {}; start it with {}'s mpiexec", start,
                     mpi, mpi);
}

// Tasks of the srun step that this process belongs to, or -1.  A batch script has SLURM_NTASKS and
// SLURM_PROCID = 0 as well, an salloc shell SLURM_NTASKS alone: programs in them may be of one
// rank.
long step_tasks(const Lookup& environment, const char*& variable) {
  const long rank = number(environment, "SLURM_PROCID");
  const long tasks = number(environment, variable = "SLURM_STEP_NUM_TASKS");
  if (rank < 0) return -1;
  if (tasks >= 0) return tasks;
  return rank > 0 ? number(environment, variable = "SLURM_NTASKS") : -1;
}

}  // namespace

std::string launch_mistake(int world_size, const std::string& mpi, const Lookup& environment) {
  if (world_size != 1) return "";
  const char* variable = nullptr;
  const long tasks = step_tasks(environment, variable);
  const long open_mpi = number(environment, "OMPI_COMM_WORLD_SIZE");
  const long pmi = number(environment, "PMI_SIZE");  // srun --mpi=pmi2 sets it as well
  if (open_mpi > 1) return wrong_mpiexec("OMPI_COMM_WORLD_SIZE", open_mpi, "Open MPI", mpi);
  if (pmi > 1 && tasks != pmi) return wrong_mpiexec("PMI_SIZE", pmi, "MPICH", mpi);
  // An mpiexec that says one rank is right, whatever Slurm started it for.
  if (tasks <= 1 || open_mpi == 1 || pmi == 1) return "";
  return fmt::format(
      "MPI_COMM_WORLD has 1 rank, but {} is {}: srun started {} programs that do not know of each "
      "other; use {} (srun --mpi=list shows what there is), or {}'s mpiexec",
      variable, tasks, tasks,
      mpi == "Open MPI" ? "srun --mpi=pmix" : "srun --mpi=pmi2 or srun --mpi=pmix", mpi);
}

void check_launch() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string mistake =
      launch_mistake(size, this_mpi, [](const char* v) { return getenv(v); });
  if (!mistake.empty()) warn_once(mistake);
}

// Two threads that poll on one core take turns of some milliseconds, which is longer than most
// calls.
std::string binding_mistake(int cpus, const std::string& mpi, const Lookup& environment) {
  if (cpus != 1) return "";
  const bool by_srun = number(environment, "SLURM_STEP_NUM_TASKS") > 0 &&
                       number(environment, "OMPI_COMM_WORLD_SIZE") < 0;
  return fmt::format(
      "this rank is bound to one CPU, which Tide's progress thread shares with the thread that "
      "calls: calls may take ten times as long; give each rank two CPUs or more ({})",
      by_srun             ? "srun --cpus-per-task=2"
      : mpi == "Open MPI" ? "mpiexec --map-by slot:PE=2, or --bind-to none"
                          : "mpiexec -bind-to none");
}

void check_binding(int rank) {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return;  // more CPUs than the mask has
  const std::string mistake =
      binding_mistake(CPU_COUNT(&mask), this_mpi, [](const char* v) { return getenv(v); });
  if (!mistake.empty()) warn_once(fmt::format("rank {}: {}", rank, mistake));
}

}  // namespace tide
