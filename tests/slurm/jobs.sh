#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# jobs.sh CASE PMI BUILD: submits the scripts of share/slurm to a private Slurm of two hosts (slurm.sh), end to end.
#   cpu      an MPI test runs on the nodes and ranks that were asked for
#   gpu      each rank has its network device and all GPUs of its node
#   array    training that is stopped in time, or killed, continues from its checkpoint: the bits of an uninterrupted run
#   limit    the same, stopped by the time limit itself
#   alone    srun without the PMI of this MPI: Tide, or the MPI, says so
usage="usage: jobs.sh cpu|gpu|array|limit|alone pmix|pmi2 BUILD"
set -uo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
case=${1:?$usage} pmi=${2:?$usage} build=$(readlink -f "${3:?$usage}")
scripts=$here/../../share/slurm
TEST_TIDE_HOSTS=$(mktemp -d) || exit 1
export TEST_TIDE_HOSTS
trap '[ ! -e "$TEST_TIDE_HOSTS/tide-hosts" ] || "$here/../cluster/hosts.sh" down; rm -rf "$TEST_TIDE_HOSTS"' EXIT
"$here/../cluster/hosts.sh" up 2 2 || exit
"$here/slurm.sh" up 4 2 || exit
nets=$("$here/../cluster/hosts.sh" nets)
work=$TEST_TIDE_HOSTS/work
mkdir "$work"
cd "$work" || exit 1
failed() { tail -n 40 "$TEST_TIDE_HOSTS"/slurm/*.log "$work"/*.out; echo "FAILED: $*"; exit 1; }
expect() { grep -qE -- "$1" "${@:2}" || failed "no '$1' in ${*:2}"; }
slurm() { "$here/slurm.sh" exec "$@"; }

# What a site's module for its MPI would set.
export SLURM_MPI_TYPE=$pmi UCX_NET_DEVICES=rail0,rail1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl_tcp_if_include=${nets//$'\n'/,} OMPI_MCA_mpi_yield_when_idle=1
shim=()
library=$build/tests/cluster/libtide_mpich_shim.so
[ ! -e "$library" ] || shim=(env LD_PRELOAD="$library")
train=("${shim[@]}" "$build/apps/train/tide-train" --data grid.nc --vars WARM,PACKED --width 24 --depth 2 --batch 128
  --no-plot --sharded --epochs 8 --checkpoint-every 2)

case_cpu() {
  slurm timeout 60 sbatch --wait --output=cpu.out "$scripts/cpu.sbatch" "${shim[@]}" "$build/tests/mpi/mpi_report" \
    --ranks=4 --hosts=2,2 || failed "the job failed"
  expect 'PASSED' cpu.out
  slurm timeout 60 sbatch --wait --nodes=2 --ntasks=3 --output=cpu3.out "$scripts/cpu.sbatch" "${shim[@]}" \
    "$build/tests/mpi/mpi_report" --ranks=3 --hosts=2,1 || failed "the job of 2 and 1 ranks failed"
  expect 'PASSED' cpu3.out
}

case_gpu() {
  # shellcheck disable=SC2016  # expanded by each rank
  NICS=rail0,rail1 slurm timeout 60 sbatch --wait --output=gpu.out --ntasks-per-node=2 --gpus-per-node=2 --cpus-per-task=2 \
    "$scripts/gpu.sbatch" bash -c 'echo "rank $SLURM_LOCALID of $(hostname): $UCX_NET_DEVICES $NCCL_IB_HCA gpus $CUDA_VISIBLE_DEVICES"
    exec "$@"' report "${shim[@]}" "$build/tests/mpi/mpi_report" --ranks=4 --hosts=2,2 || failed "the job failed"
  local host rank
  for host in $("$here/../cluster/hosts.sh" names); do
    for rank in 0 1; do expect "^rank $rank of $host: rail$rank =rail$rank gpus 0,1$" gpu.out; done
  done
  expect 'PASSED' gpu.out
}

# Both seeds, uninterrupted, beside each other.
whole_runs() {
  local seed jobs=()
  "$build/apps/train/tests/tide-train-make-grid" grid.nc || failed "no data"
  for seed in 1 2; do
    slurm timeout 200 sbatch --wait --output=whole-$seed.out "$scripts/cpu.sbatch" "${train[@]}" --seed $seed \
      --checkpoint whole-$seed.ckpt --out whole-$seed &
    jobs+=($!)
  done
  wait "${jobs[0]}" && wait "${jobs[1]}" || failed "an uninterrupted run failed"
  ! cmp -s whole-1.csv whole-2.csv || failed "two seeds learn the same: nothing is shown"
}
until_true() { # SECONDS COMMAND...
  local k
  for ((k = 0; k < 5 * $1; k++)); do "${@:2}" && return; sleep 0.2; done
  failed "not after $1 s: ${*:2}"
}
all_ended() { [ -z "$(slurm squeue -h -o %i)" ]; }
told() { grep -q "$1" "array-$2.out" 2> /dev/null; }
# The rails are so slow that training takes minutes, whatever the machine does: it is stopped amid it, not after it.
step() { echo "$SECONDS s: $*"; }
slow() { "$here/../cluster/hosts.sh" rate "$1"; }
fast() { "$here/../cluster/hosts.sh" rate none; }
submit_array() {
  slurm timeout 60 sbatch --parsable --array=1-2 --output=array-%a.out "$@" "$scripts/array.sbatch" "${train[@]}"
}
expect_same_bits() {
  local seed
  for seed in 1 2; do
    expect "continued from run-$seed.ckpt: epoch" array-$seed.out
    grep -E 'stopped by|continued from|queued again' array-$seed.out
    cmp whole-$seed.csv run-$seed.csv || failed "seed $seed: the validation curve is not that of the uninterrupted run"
    cmp whole-$seed.ckpt run-$seed.ckpt || failed "seed $seed: the last checkpoint is not that of the uninterrupted run"
  done
}

# The signal of the time limit, sent by hand to seed 1; seed 2's ranks are killed, and it is submitted again.
case_array() {
  whole_runs
  step "uninterrupted runs are done"
  slow 2mbit
  local job; job=$(submit_array) || failed "the array was not taken"
  until_true 100 [ -e run-1.ckpt ]
  until_true 100 [ -e run-2.ckpt ]
  step "first checkpoints"
  slurm scancel --batch --signal=USR1 "${job}_1"
  slurm scancel --signal=KILL "${job}_2.0"
  until_true 60 told 'run-1: stopped in time, queued again' 1
  until_true 60 told 'run-2: exit status .*, not queued again' 2
  fast
  step "stopped"
  submit_array --array=2 > /dev/null || failed "the killed element was not taken again"
  until_true 200 all_ended
  step "continued to the end"
  expect 'stopped by a signal in epoch' array-1.out
  expect_same_bits
}

# The time limit itself: Slurm looks every 30 s, so the signal comes 20 to 50 s after the start.
case_limit() {
  whole_runs
  slow 300kbit
  submit_array --time=00:01:00 --signal=B:USR1@10 || failed "the array was not taken"
  until_true 90 told 'queued again' 1
  until_true 90 told 'queued again' 2
  fast
  step "stopped"
  until_true 200 all_ended
  step "continued to the end"
  expect 'stopped by a signal in epoch' array-1.out array-2.out
  expect_same_bits
}

case_alone() {
  local program=("$build/tests/faults/mpi_exact" --gtest_color=no --gtest_filter=Exact.Small)
  slurm timeout 60 srun --mpi=none -N 2 --ntasks-per-node=2 "${program[@]}" > alone.out 2>&1
  if [ "$pmi" = pmix ]; then  # Open MPI does not start without its PMI
    expect "OMPI was not built with SLURM's PMI support" alone.out
    ! grep -q PASSED alone.out || failed "it ran without a PMI: look at what Tide said"
  else
    local said; said=$(grep -c '^tide: MPI_COMM_WORLD has 1 rank.*TASKS is 4: srun started 4 programs.*--mpi=pmi2' alone.out)
    [ "$said" = 4 ] || failed "4 tasks said it $said times"
  fi
  slurm timeout 60 srun --mpi="$pmi" -N 2 --ntasks-per-node=2 "${shim[@]}" "${program[@]}" > right.out 2>&1 ||
    failed "the right launch failed"
  ! grep '^tide:' right.out || failed "a right launch is no mistake"
}
"case_$case"
echo "ok: $case"
