#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is needed, builds with both MPIs (warnings are errors) and runs every test.  Exits nonzero if any failed.
usage="usage: share/setup/test.sh [--mpi openmpi|mpich] [ctest arguments, for example -L unit or -R allgather]"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
test_limit_s=120 run_limit_min=28   # of a test that sets none; of all tests with one MPI

mpis=(openmpi mpich) ctest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --mpi) mpis=("${2:?$usage}"); shift 2 ;;
    --mpi=*) mpis=("${1#--mpi=}"); shift ;;
    -h | --help) echo "$usage"; exit 0 ;;
    *) ctest_arguments+=("$1"); shift ;;
  esac
done
for mpi in "${mpis[@]}"; do
  case $mpi in openmpi | mpich) ;; *) echo "unknown MPI '$mpi'; $usage" >&2; exit 2 ;; esac
done

share/setup/packages.sh
launcher=()
if command -v ccache > /dev/null; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
for mpi in "${mpis[@]}"; do
  printf '\n== %s: build\n' "$mpi"
  cmake -S . -B "build/$mpi" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMPI_EXECUTABLE_SUFFIX=".$mpi" \
    -DTIDE_WARNINGS_AS_ERRORS=ON -DTIDE_BUILD_TESTING=ON "${launcher[@]}"
  cmake --build "build/$mpi" --parallel "$(nproc)"
done

# The summary that CTest printed: from its "N% tests passed" to the end.
summary() { sed -n '/% tests passed/,$p; /^No tests were found/p' "build/$1/ctest.log"; }
failed='' last=${mpis[-1]}
for mpi in "${mpis[@]}"; do
  printf '\n== %s: test\n' "$mpi"
  rc=0
  ctest --test-dir "build/$mpi" --output-on-failure --timeout $test_limit_s --no-tests=error --parallel "$(nproc)" \
    --stop-time "$(date -d "+$run_limit_min minutes" +%H:%M:%S)" --output-junit junit.xml "${ctest_arguments[@]}" \
    < /dev/null 2>&1 | tee "build/$mpi/ctest.log" || rc=1
  if grep -q 'stop time has been passed' "build/$mpi/ctest.log"; then
    echo "$mpi: not finished within $run_limit_min minutes"
    rc=1
  fi
  [ $rc = 0 ] || { failed+=" $mpi"; last=$mpi; }
done

printf '\n== Results\n'
for mpi in "${mpis[@]}"; do
  case " $failed " in *" $mpi "*) verdict=FAILED ;; *) verdict=passed ;; esac
  printf '%-8s %s  %s\n' "$mpi" "$verdict" "$(summary "$mpi" | head -n 1)"
done
printf '\nCTest'\''s summary of %s:\n' "$last"
summary "$last"
[ -z "$failed" ]
