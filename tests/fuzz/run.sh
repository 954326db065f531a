#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# run.sh FUZZER CORPUS SECONDS: a libFuzzer program from its corpus on.  What it finds new goes beside the program: the
# corpus stays as it is.  Exits nonzero where something was found, and says how to see it again.
set -euo pipefail
fuzzer=$1 corpus=$2 seconds=$3
new=$fuzzer.corpus log=$fuzzer.log
mkdir -p "$new"
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}
rc=0
"$fuzzer" "$new" "$corpus" -max_total_time="$seconds" -max_len=1024 -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 \
  -artifact_prefix="$fuzzer.found." < /dev/null > "$log" 2>&1 || rc=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 || true)
printf '%-18s %8s runs  %s\n' "$(basename "$fuzzer")" "${runs:-?}" "$coverage"
[ $rc != 0 ] || exit 0
printf 'FOUND SOMETHING (exit %d), the end of %s:\n' $rc "$log"
grep -E 'does not hold|ERROR|runtime error|SUMMARY|#[0-9] .*(src|apps)/' "$log" | head -n 20 || true
printf 'see it:  %s %s\n' "$fuzzer" "$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)"
exit 1
