#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# V28, P26: SIGKILL of all ranks and their launcher in the middle of a call.  Nothing of Tide's may be left in /dev/shm,
# in /tmp or as a System V segment, and the next job is exact.  (What MPI itself leaves is removed here, not judged.)
usage="usage: killed.sh ROUNDS MPIEXEC... PROGRAM"
set -uo pipefail
rounds=${1:?$usage}; shift
work=$(mktemp -d) || exit 1
launcher=''
trap 'rm -rf "$work"; [ -z "$launcher" ] || kill -9 "$launcher" 2> /dev/null' EXIT

below() {  # the process and everything that it started
  echo "$1"
  local child
  for child in $(pgrep -P "$1"); do below "$child"; done
}
ours() { find /dev/shm /tmp -maxdepth 1 -name 'tide.*' -newer "$work/begin" 2> /dev/null; }

for ((round = 1; round <= rounds; round++)); do
  touch "$work/begin"
  rm -f "$work/mark"
  TEST_TIDE_MARK=$work/mark "$@" --deadline=55 --gtest_filter=Endless.Calls > "$work/log" 2>&1 &
  launcher=$!
  for ((i = 0; i < 300; i++)); do [ -e "$work/mark" ] && break; kill -0 "$launcher" 2> /dev/null || break; sleep 0.1; done
  [ -e "$work/mark" ] || { echo "round $round: call 50 was not reached"; cat "$work/log"; exit 1; }
  mapfile -t processes < <(below "$launcher")
  ranks=0
  for p in "${processes[@]}"; do grep -q memfd:tide "/proc/$p/maps" 2> /dev/null && ((ranks++)); done
  [ "$ranks" -ge 2 ] || { echo "round $round: only $ranks processes map memory of Tide's: nothing is shown"; exit 1; }
  mpi_files=$(cat $(printf '/proc/%s/maps ' "${processes[@]}") 2> /dev/null | grep -o '/dev/shm/[^ ]*' | sort -u)
  kill -9 "${processes[@]}"
  wait "$launcher" 2> /dev/null
  for p in "${processes[@]}"; do while kill -0 "$p" 2> /dev/null; do sleep 0.05; done; done
  left=$(ours; for p in "${processes[@]}"; do ipcs -m -p | awk -v p="$p" '$3 == p {print "System V segment", $1}'; done)
  left+=$(grep 'tide' <<< "$mpi_files")
  # shellcheck disable=SC2086
  rm -rf $mpi_files /tmp/ompi.*/pid."$launcher"
  launcher=''
  [ -z "$left" ] || { printf 'round %s left behind:\n%s\n' "$round" "$left"; exit 1; }
  "$@" --deadline=40 --gtest_filter=Exact.Small > "$work/log" 2>&1 ||
    { echo "round $round: the next job failed"; cat "$work/log"; exit 1; }
  echo "round $round: $ranks ranks killed, nothing left, the next job is exact"
done
