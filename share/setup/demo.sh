#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is needed, builds Tide and trains a small network on 4 ranks, sharded and unsharded side by side.
usage="usage: share/setup/demo.sh [tide-train arguments, for example --epochs 5; --help lists them]"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
ranks=4 build=build/demo out=build/demo/training
step() { printf '\n== %s\n' "$*"; }
case ${1:-} in -h) echo "$usage"; exit 0 ;; esac

step "1/3 packages"
share/setup/packages.sh

step "2/3 build, in $build"
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DMPI_EXECUTABLE_SUFFIX=.openmpi -DTIDE_BUILD_TESTING=OFF
cmake --build $build --parallel "$(nproc)"
train=$build/apps/train/tide-train
if [ ! -x $train ]; then
  echo "demo: $train was not built; the summary of the configure step above names the package that is missing" >&2
  exit 1
fi

step "3/3 training on $ranks ranks (a few minutes)"
# More ranks than cores, and perhaps as root: Open MPI wants to be told.  One BLAS thread a rank.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
export OPENBLAS_NUM_THREADS=1
started=$SECONDS
mpirun.openmpi -n $ranks $train --out $out "$@" < /dev/null

step "done in $((SECONDS - started)) s"
for kind in csv png time.csv time.png; do
  if [ -f $out.$kind ]; then printf "%-8s %s\n" $kind "$PWD/$out.$kind"; fi
done
echo "What the curves show: share/doc/TRAINING.md"
