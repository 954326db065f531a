#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# V33, P31: programs started wrongly say so, once, by name, and still give the result of one rank; right ones are silent.
usage="usage: launches.sh PROGRAM MPI-NAME [MPIEXEC OTHER-MPIEXEC OTHER-NAME]"
set -uo pipefail
program=${1:?$usage} mpi=${2:?$usage} mpiexec=${3:-} other=${4:-} other_name=${5:-}
unset "${!SLURM_@}" "${!OMPI_COMM@}" "${!PMI_@}" "${!PMIX_@}"
failed=0
# told WANTED-LINES WORDS... -- COMMAND...: exit 0, so many warnings, each with all the words
told() {
  local wanted=$1 words=() word out rc lines; shift
  while [ "$1" != -- ]; do words+=("$1"); shift; done
  shift
  out=$(timeout -k 5 50 "$@" 2>&1)
  rc=$?
  lines=$(grep -o 'tide: .*' <<< "$out")  # other output may stand before it
  local seen=0
  [ -z "$lines" ] || seen=$(wc -l <<< "$lines")
  local verdict=ok
  [ "$rc" = 0 ] || verdict="exit status $rc"
  [ "$seen" = "$wanted" ] || verdict="$seen warnings, expected $wanted"
  grep -q PASSED <<< "$out" || verdict="the result of one rank is not right"
  for word in "${words[@]}"; do
    [ "$(grep -cF -- "$word" <<< "$lines")" = "$wanted" ] || verdict="no '$word'"
  done
  echo "$verdict: $*"
  [ "$verdict" = ok ] || { echo "$out"; failed=1; }
}
run=("$program" --gtest_color=no --gtest_filter=Exact.Small)
pmi='srun --mpi=pmi'
told 1 'SLURM_NTASKS is 4' "$pmi" -- env SLURM_NTASKS=4 SLURM_PROCID=2 "${run[@]}"
told 1 'SLURM_STEP_NUM_TASKS is 3' "$pmi" -- env SLURM_STEP_NUM_TASKS=3 SLURM_NTASKS=3 SLURM_PROCID=0 "${run[@]}"
told 0 -- "${run[@]}"
told 0 -- env SLURM_NTASKS=1 SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0 "${run[@]}"
told 0 -- env SLURM_NTASKS=4 SLURM_JOB_ID=7 "${run[@]}"
told 0 -- env SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_JOB_ID=7 "${run[@]}"
if [ -n "$mpiexec" ]; then
  told 0 -- "$mpiexec" -n 1 "${run[@]}"
  told 0 -- "$mpiexec" -n 2 "${run[@]}"
fi
if [ -n "$other" ] && [ "$other" != none ]; then  # each process is a job of its own, so each one says it
  told 2 "$other_name's mpiexec" "linked with $mpi" -- "$other" -n 2 "${run[@]}"
  told 0 -- "$other" -n 1 "${run[@]}"
else
  echo "left out: the mpiexec of another MPI is not installed"
fi
exit $failed
