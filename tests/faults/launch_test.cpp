// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// P31: which environments mean a broken launch, and which do not.  One process.
#include "core/launch.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>

namespace tide {
namespace {

using Variables = std::map<std::string, std::string>;

std::string said(int world_size, const char* mpi, const Variables& variables) {
  return launch_mistake(world_size, mpi, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

void expect_words(const std::string& line, std::initializer_list<std::string> words) {
  EXPECT_EQ(std::string::npos, line.find('\n'));
  for (const std::string& word : words)
    EXPECT_NE(std::string::npos, line.find(word)) << "no \"" << word << "\" in: " << line;
}

TEST(Launch, SrunWithoutPmiIsNamed) {
  const Variables v33{{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "2"}};
  expect_words(said(1, "Open MPI", v33), {"SLURM_NTASKS is 4", "srun --mpi=pmix", "1 rank"});
  expect_words(said(1, "MPICH", v33), {"SLURM_NTASKS is 4", "srun --mpi=pmi2"});
  // Rank 0 of a step: known by the step's own variable.
  const Variables first{
      {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "3"}};
  expect_words(said(1, "Open MPI", first), {"SLURM_STEP_NUM_TASKS is 3", "srun --mpi="});
  // srun --mpi=pmi2 with an MPI that speaks PMIx only.
  Variables pmi2 = first;
  pmi2.emplace("PMI_SIZE", "3");
  expect_words(said(1, "Open MPI", pmi2), {"srun --mpi=pmix"});
}

TEST(Launch, TheOtherMpisMpiexecIsNamed) {
  expect_words(said(1, "MPICH", {{"OMPI_COMM_WORLD_SIZE", "2"}}),
               {"OMPI_COMM_WORLD_SIZE is 2", "Open MPI's mpiexec", "linked with MPICH"});
  expect_words(said(1, "Open MPI", {{"PMI_SIZE", "2"}}),
               {"PMI_SIZE is 2", "MPICH's mpiexec", "linked with Open MPI"});
  expect_words(said(1, "Open MPI", {{"OMPI_COMM_WORLD_SIZE", "2"}}),
               {"not the mpiexec of the Open MPI"});
  // mpiexec inside a batch job: its variable says more than Slurm's.
  expect_words(
      said(1, "Open MPI", {{"PMI_SIZE", "2"}, {"SLURM_NTASKS", "2"}, {"SLURM_PROCID", "0"}}),
      {"MPICH's mpiexec"});
}

TEST(Launch, ACoreForTwoThreadsIsNamed) {
  const auto bound = [](int cpus, const char* mpi, const Variables& variables) {
    return binding_mistake(cpus, mpi, [&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
  };
  const Variables step{{"SLURM_STEP_NUM_TASKS", "4"}};
  expect_words(bound(1, "Open MPI", {}), {"one CPU", "progress thread", "--map-by slot:PE=2"});
  expect_words(bound(1, "MPICH", {}), {"mpiexec -bind-to none"});
  expect_words(bound(1, "MPICH", step), {"srun --cpus-per-task=2"});
  for (int cpus : {2, 64}) EXPECT_EQ("", bound(cpus, "Open MPI", step));
}

TEST(Launch, RightLaunchesAreSilent) {
  const char* mpis[] = {"Open MPI", "MPICH", "another MPI"};
  for (const char* mpi : mpis) {
    EXPECT_EQ("", said(1, mpi, {}));
    EXPECT_EQ("", said(4, mpi, {{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "2"}}));
    EXPECT_EQ("", said(2, mpi, {{"OMPI_COMM_WORLD_SIZE", "2"}}));
    EXPECT_EQ("", said(2, mpi, {{"PMI_SIZE", "2"}}));
    // One rank, and meant to be.
    EXPECT_EQ("", said(1, mpi, {{"OMPI_COMM_WORLD_SIZE", "1"}}));
    EXPECT_EQ("", said(1, mpi, {{"PMI_SIZE", "1"}}));
    EXPECT_EQ("", said(1, mpi, {{"SLURM_NTASKS", "1"}, {"SLURM_PROCID", "0"}}));
    EXPECT_EQ("",
              said(1, mpi,
                   {{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}));
    // An salloc shell; a batch script; a program of one rank in them.
    EXPECT_EQ("", said(1, mpi, {{"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "7"}}));
    EXPECT_EQ("", said(1, mpi, {{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}));
    // mpiexec -n 1, whose daemon is an srun task among several.
    const Variables daemon{
        {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}};
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
      Variables v = daemon;
      v.emplace(name, "1");
      EXPECT_EQ("", said(1, mpi, v)) << name;
    }
  }
}

TEST(Launch, WhatIsNotANumberIsNotThere) {
  for (const char* text : {"", "x", "4x", "-2", "4(x2)"}) {
    EXPECT_EQ("", said(1, "MPICH", {{"SLURM_NTASKS", text}, {"SLURM_PROCID", "2"}})) << text;
    EXPECT_EQ("", said(1, "MPICH", {{"OMPI_COMM_WORLD_SIZE", text}})) << text;
    EXPECT_EQ("", said(1, "Open MPI", {{"PMI_SIZE", text}})) << text;
  }
}

}  // namespace
}  // namespace tide
