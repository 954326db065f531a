#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is needed, then stage after stage: a build (warnings are errors) and its tests.  Exits nonzero if any failed.
usage="usage: share/setup/test.sh [--only STAGE[,STAGE...]] [ctest arguments, for example -L unit or -R allgather]
stages, all of them without --only: openmpi (all tests), mpich (those that use MPI), asan tsan (or both: sanitizers),
  fuzz (each fuzz target for some seconds)
--mpi openmpi|mpich is the same as --only openmpi|mpich"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
test_limit_s=120 stage_limit_min=33   # of a test that sets none; of all tests of a stage

only=openmpi,mpich,asan,tsan,fuzz ctest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --only | --mpi) only=${2:?$usage}; shift 2 ;;
    --only=* | --mpi=*) only=${1#*=}; shift ;;
    -h | --help) echo "$usage"; exit 0 ;;
    *) ctest_arguments+=("$1"); shift ;;
  esac
done
IFS=' ' read -r -a stages <<< "$(sed 's/\bsanitizers\b/asan,tsan/g; s/,/ /g' <<< "$only")"
[ ${#stages[@]} -gt 0 ] || { echo "no stage; $usage" >&2; exit 2; }
for stage in "${stages[@]}"; do
  case $stage in openmpi | mpich | asan | tsan | fuzz) ;; *) echo "unknown stage '$stage'; $usage" >&2; exit 2 ;; esac
done

share/setup/packages.sh
launcher=()
if command -v ccache > /dev/null; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
# The summary that CTest printed: from its "N% tests passed" to the end.
summary() { sed -n '/% tests passed/,$p; /^No tests were found/p' "build/$1/ctest.log"; }
minutes() { awk -v s="$1" 'BEGIN { printf "%.1f min", s / 60 }'; }
failed='' last=${stages[-1]}
declare -A took
for stage in "${stages[@]}"; do
  printf '\n== %s: build\n' "$stage"
  begun=$SECONDS target=all kokkos=OFF cuda=OFF multicast=OFF
  [ "$stage" != fuzz ] || target=fuzzers  # libtide itself is not part of it
  if [ "$stage" = openmpi ]; then
    kokkos=ON
    # CUDA is compiled where its compiler is; no GPU is needed for that.
    if command -v nvcc > /dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then cuda=ON; fi
  fi
  # Device memory, and multicast objects, on a device that is host memory.
  [ "$stage" != asan ] || cuda=emulate multicast=ON
  cmake --preset "$stage" -DTIDE_BUILD_TESTING=ON -DTIDE_WITH_KOKKOS=$kokkos -DTIDE_WITH_CUDA=$cuda -DTIDE_WITH_MULTICAST=$multicast "${launcher[@]}"
  cmake --build "build/$stage" --parallel "$(nproc)" --target "$target"
  took[$stage]="build $(minutes $((SECONDS - begun)))"
done

for stage in "${stages[@]}"; do
  printf '\n== %s: test\n' "$stage"
  rc=0 begun=$SECONDS chosen=()
  [ "$stage" != fuzz ] || chosen=(-L fuzz)
  slots=$((2 * $(nproc)))  # a test takes as many as it has ranks
  [ "$stage" != mpich ] || slots=$(nproc)  # whose ranks spin while they wait
  ctest --test-dir "build/$stage" --output-on-failure --timeout $test_limit_s --no-tests=error --parallel $slots \
    --stop-time "$(date -d "+$stage_limit_min minutes" +%H:%M:%S)" --output-junit junit.xml ${chosen[@]+"${chosen[@]}"} "${ctest_arguments[@]}" \
    < /dev/null 2>&1 | tee "build/$stage/ctest.log" || rc=1
  if grep -q 'stop time has been passed' "build/$stage/ctest.log"; then
    echo "$stage: not finished within $stage_limit_min minutes"
    rc=1
  fi
  took[$stage]+=", tests $(minutes $((SECONDS - begun)))"
  [ $rc = 0 ] || { failed+=" $stage"; last=$stage; }
done

printf '\n== Results\n'
for stage in "${stages[@]}"; do
  case " $failed " in *" $stage "*) verdict=FAILED ;; *) verdict=passed ;; esac
  printf '%-8s %s  %s (%s)\n' "$stage" "$verdict" "$(summary "$stage" | head -n 1)" "${took[$stage]}"
done
printf '\nCTest'\''s summary of %s:\n' "$last"
summary "$last"
[ -z "$failed" ]
