#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Compares the training steps of commands that run tide-train: each in turn, so that what else the machine does meets all
# alike.  Prints for each command the median and the smallest of its runs' medians, its share of exposed communication, and
# the first command's step over it.
usage="usage: share/setup/abab.sh ROUNDS COMMAND COMMAND...   (each in quotes)"
set -uo pipefail
rounds=${1:?$usage}; shift
: "${1:?$usage}"
times=$(mktemp -d); trap 'rm -rf "$times"' EXIT
for ((round = 0; round < rounds; round++)); do
  n=0
  for command in "$@"; do
    n=$((n + 1))
    bash -c "$command" < /dev/null > "$times/output" 2>&1 || { cat "$times/output"; exit 1; }
    awk '/a step: median/ { ms = $4 } /^ +exposed communication/ { print ms, $(NF - 1); exit }' "$times/output" >> "$times/$n"
  done
done
n=0 first=''
for command in "$@"; do
  n=$((n + 1))
  read -r median least share < <(sort -n "$times/$n" | awk '{ ms[NR] = $1; s += $2 }
    END { print ms[int((NR + 1) / 2)], ms[1], s / NR }')
  first=${first:-$median}
  awk -v m="$median" -v l="$least" -v s="$share" -v f="$first" -v c="$command" \
    'BEGIN { printf "%9.3f ms  least %9.3f  communication %3.0f %%  first/this %.2f  %s\n", m, l, s, f / m, c }'
done
uptime
