#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# What a network that fails does to calls that are under way.  cluster_loop (loop.cpp) runs on the hosts meanwhile.
#   heals  the last host's links go and come back after 2 s: every result is right, and a call did wait for them
#   stays  they do not come back: every rank gets the error of tide_timeout within 2T + 1 s; it names a rank of the other side
#   half   only the first of its rails goes, for good: the same error, or right results where what carries bytes finds
#          another way (neither MPI does)
#   killed no link goes: a rank of the last host is killed amid calls, and the others get PEER or TIMEOUT in time, by its name
#          (Open MPI: its launcher lets the others live)
#   loss   1 % of the packets between hosts are lost
#   delay  each packet takes 2 ms longer
usage="usage: links.sh heals|stays|half|killed|loss|delay RANKS-PER-HOST RAILS MPIEXEC LOOP"
set -uo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
what=${1:?$usage} counts=${2:?$usage} rails=${3:?$usage} mpiexec=${4:?$usage} loop=${5:?$usage}
timeout_s=2 seconds=6 rate=1gbit cut=$rails
case $what in
  heals | stays | killed | loss) ;;
  half) cut=1 ;;
  delay) rate=none ;;
  *) echo "$usage" >&2; exit 2 ;;
esac
commas=${counts//[!,]/} last_count=${counts##*,}
last=${#commas} ranks=$((${counts//,/+}))
TEST_TIDE_HOSTS=$(mktemp -d) || exit 1
export TEST_TIDE_HOSTS
log=$(mktemp)
trap '[ ! -e "$TEST_TIDE_HOSTS/tide-hosts" ] || "$here/hosts.sh" down; rm -rf "$TEST_TIDE_HOSTS" "$log"' EXIT
failed() { grep -v '^call' "$log"; echo "FAILED: $*"; exit 1; }
links() { # down|up
  local rail
  for ((rail = 0; rail < cut; rail++)); do "$here/hosts.sh" link "$last" $rail "$1" || failed "rail $rail cannot go $1"; done
}
calls() { sed -n 's/^call //p' "$log" | tail -n 1; }

"$here/hosts.sh" up $((last + 1)) "$rails" "$rate" || exit
case $what in
  loss) "$here/hosts.sh" loss 10 || exit ;;
  delay) "$here/hosts.sh" delay 2ms || exit ;;
  stays | half) export TIDE_TIMEOUT=$timeout_s ;;
  killed) export TIDE_TIMEOUT=$timeout_s OMPI_MCA_orte_enable_recovery=1 ;;
esac
timeout -k 5 90 "$here/launch.sh" "$mpiexec" "$counts" "$loop" $seconds < /dev/null > "$log" 2>&1 &
launcher=$!
case $what in heals | stays | half | killed)
  for ((i = 0; i < 400; i++)); do
    [ "$(calls)" != '' ] && break
    kill -0 $launcher 2> /dev/null || failed "it ended before its first calls"
    sleep 0.1
  done
  sleep 0.3
  [ "$what" = killed ] || links down ;;
esac
told() { grep -cE "^rank [0-9]+ of $ranks, call [0-9]+: $1 after [0-$((2 * timeout_s))]\.[0-9] s: rank $2: " "$log"; }
if [ "$what" = killed ]; then
  culprit=$("$here/hosts.sh" exec "$last" bash -c 'process=$(pgrep -n cluster_loop)
    tr "\0" "\n" < "/proc/$process/environ" | sed -n "s/^OMPI_COMM_WORLD_RANK=//p"; kill -9 "$process"')
  for ((i = 0; i < 100; i++)); do
    [ "$(told '(TIMEOUT|PEER)' "$culprit")" = $((ranks - 1)) ] && break
    kill -0 $launcher 2> /dev/null || break
    sleep 0.1
  done
  kill $launcher  # it waits for the killed one
  wait $launcher
  grep -v '^call' "$log"
  [ "$(told '(TIMEOUT|PEER)' "$culprit")" = $((ranks - 1)) ] || failed "not all others had the error in time, by the name of rank $culprit"
  exit 0
fi
if [ "$what" = heals ]; then
  sleep 0.5; before=$(calls); sleep 1.5
  [ "$(calls)" = "$before" ] || failed "calls went on without the links: nothing is shown"
  links up
fi
wait $launcher
rc=$?
grep -v '^call' "$log"
[ $rc != 124 ] && [ $rc != 137 ] || failed "it hung: exit status $rc"

right=$(grep -cE "^rank [0-9]+ of $ranks on $((last + 1)) nodes: [0-9]+ calls are right" "$log")
in_time=$(grep -cE "^rank [0-9]+ of $ranks, call [0-9]+: TIMEOUT after [0-$((2 * timeout_s))]\.[0-9] s: rank [0-9]+: " "$log")
# rank R ... TIMEOUT ... : rank Q: does not answer
same_side=$(sed -nE 's/^rank ([0-9]+) of [0-9]+, call .*TIMEOUT after [^:]*: rank ([0-9]+): .*/\1 \2/p' "$log" |
  awk -v first_of_last=$((ranks - last_count)) '($1 < first_of_last) == ($2 < first_of_last)' | wc -l)
echo "exit status $rc: $right of $ranks ranks found all calls right, $in_time had the error in time"
case $what in
  stays)
    [ "$in_time" = $ranks ] || failed "not all ranks had the error in time"
    [ "$same_side" = 0 ] || failed "$same_side ranks name one of their own side of the cut" ;;
  half) [ "$in_time" = $ranks ] || [ "$right" = $ranks ] || failed "some ranks had neither the error nor right results" ;;
  *) [ "$right" = $ranks ] && [ $rc = 0 ] || failed "not all ranks found all calls right" ;;
esac
case $what in
  heals) grep -qE 'the longest took (1\.[5-9]|[2-9]\.|[1-9][0-9])' "$log" || failed "no call waited for the links" ;;
  loss)
    lost=$("$here/hosts.sh" loss 0)
    echo "$lost"
    [[ $lost =~ [1-9] ]] || failed "no packet was lost: nothing is shown" ;;
esac
exit 0
