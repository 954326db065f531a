#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# V27: a job in a mount namespace whose /dev/shm is small, as in many containers.  Passes where rank 0's GoogleTest says
# PASSED, no rank says otherwise and the exit status is 0; but MPICH over TCP (UCX_TLS=tcp,self) may hang after that, in its
# own MPI_Finalize (pmodels/mpich#6596).
usage="usage: small_shm.sh SIZE MPIEXEC... PROGRAM --gtest_filter=..."
set -uo pipefail
size=${1:?$usage}; shift
if ! unshare -m --propagation private mount -t tmpfs -o "size=$size" tmpfs /dev/shm 2> /dev/null; then
  echo "skipped: unshare -m and mount are not permitted here (they need root)"
  exit 77
fi
# shellcheck disable=SC2016  # expanded inside
out=$(unshare -m --propagation private bash -c 'mount -t tmpfs -o size='"$size"' tmpfs /dev/shm && exec timeout -k 5 45 "$@"' \
  - "$@" 2>&1)
rc=$?
echo "$out"
if grep -Eqi 'signal(:| code:| )* ?7\b|SIGBUS|bus error' <<< "$out"; then echo "SIGBUS"; exit 1; fi
if grep -q 'RANKS  \|: Failure\|no case ran\|SKIPPED' <<< "$out" || ! grep -q 'PASSED' <<< "$out"; then
  echo "failed, exit status $rc"
  exit 1
fi
if [ $rc != 0 ] && [[ ${UCX_TLS:-} != tcp* || " $* " != *mpich* ]]; then
  echo "failed, exit status $rc"
  exit 1
fi
