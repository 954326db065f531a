#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Builds the fuzz targets (preset fuzz: clang's libFuzzer, address and undefined-behaviour sanitizers) and runs each from
# its corpus in tests/fuzz/corpus.  Exits nonzero where something was found, and says how to see it again.
usage="usage: share/setup/fuzz.sh [seconds per target, default 20] [target...]"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
case ${1:-} in -h | --help) echo "$usage"; exit 0 ;; esac
seconds=${1:-20}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "'$seconds' is not a number of seconds; $usage" >&2; exit 2; }
shift $(($# > 0))
targets=("$@")
[ ${#targets[@]} -gt 0 ] || for dir in tests/fuzz/corpus/*/; do targets+=("$(basename "$dir")"); done

launcher=()
if command -v ccache > /dev/null; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
started=$SECONDS
printf '== build, in build/fuzz\n'
cmake --preset fuzz "${launcher[@]}" > /dev/null
cmake --build build/fuzz --parallel "$(nproc)" --target "${targets[@]/#/fuzz_}"
printf '== built in %d s\n' $((SECONDS - started))

export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}
out=$PWD/build/fuzz/found log=$PWD/build/fuzz/log
mkdir -p "$out" "$log"
run() { # a target; what is new goes to a corpus of its own, that of the repository stays as it is
  mkdir -p "build/fuzz/corpus/$1"
  timeout $((seconds + 60)) "build/fuzz/tests/fuzz/fuzz_$1" "build/fuzz/corpus/$1" "tests/fuzz/corpus/$1" \
    -max_total_time="$seconds" -max_len=1024 -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$out/$1." < /dev/null > "$log/$1" 2>&1
}
failed=()
for target in "${targets[@]}"; do
  rc=0
  run "$target" || rc=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log/$target")
  coverage=$(grep -o 'cov: [0-9]*' "$log/$target" | tail -n 1 || true)
  verdict=ok
  [ $rc = 0 ] || { verdict="FOUND SOMETHING (exit $rc)"; failed+=("$target"); }
  printf '%-12s %8s runs  %-10s %s\n' "$target" "${runs:-?}" "$coverage" "$verdict"
done

for target in ${failed[@]+"${failed[@]}"}; do
  printf '\n== %s: the end of build/fuzz/log/%s\n' "$target" "$target"
  grep -E 'does not hold|ERROR|runtime error|SUMMARY|#[0-9] .*(src|apps)/' "$log/$target" | head -n 20 || true
  file=$(sed -n 's/.*Test unit written to //p' "$log/$target" | tail -n 1)
  printf 'file:    %s\nsee it:  build/fuzz/tests/fuzz/fuzz_%s %s\n' "${file:-none}" "$target" "${file:-}"
done
printf '\n%d targets, %d found something, %d s in all\n' ${#targets[@]} ${#failed[@]} $((SECONDS - started))
[ ${#failed[@]} = 0 ]
