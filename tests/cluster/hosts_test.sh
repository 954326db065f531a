#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# hosts.sh itself: hosts are apart, two instances live beside each other, nothing foreign is touched, nothing is left.
set -uo pipefail
hosts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/hosts.sh
work=$(mktemp -d) || exit 1
one=$work/one two=$work/two foreign=$work/foreign
mkdir "$one" "$two" "$foreign"
touch "$foreign/file"
on() { TEST_TIDE_HOSTS=$1 "$hosts" "${@:2}"; }
trap 'for d in "$one" "$two"; do [ ! -e "$d/tide-hosts" ] || on "$d" down; done; rm -rf "$work"' EXIT
failed=0
expect() { # WORDS COMMAND...
  if "${@:2}"; then echo "ok: $1"; else echo "FAILED: $1"; failed=1; fi
}
refuses() { ! "$@" > "$work/refusal" 2>&1; }
same() { [ "$1" = "$2" ]; }
processes_of() { grep -lsaz "TEST_TIDE_HOSTS_ID=$1" /proc/[0-9]*/environ | wc -l; }
reach() { # FROM TO: nobody listens there, but somebody says so
  local to; to=$(sed -n "s/ .*n$2\$//p" "$one/names")
  [[ $(on "$one" exec "$1" timeout 5 bash -c "exec 3<> /dev/tcp/$to/1" 2>&1) == *refused* ]]
}

on "$one" up 2 1 100mbit || exit
id_one=$(< "$one/tide-hosts")
expect "down of a foreign folder is refused" refuses on "$foreign" down
expect "and leaves it alone" [ -e "$foreign/file" ]
expect "up into a folder with other things is refused" refuses on "$foreign" up 2
expect "up twice is refused" refuses on "$one" up 2
expect "a rail that there is not is refused" refuses on "$one" link 0 7 down
expect "a host that there is not is refused" refuses on "$one" exec 5 true

on "$two" up 3 2
for host in 0 1; do
  on "$one" exec $host bash -c "echo $host > /dev/shm/mine; hostname; ipcmk -M 4096 > /dev/null" > "$work/name$host"
done
expect "each host has a name" refuses cmp "$work/name0" "$work/name1"
expect "and its own /dev/shm" same "$(on "$one" exec 0 cat /dev/shm/mine) $(on "$one" exec 1 cat /dev/shm/mine)" "0 1"
expect "and System V segments" same "$(on "$one" exec 0 ipcs -m | grep -c ^0x)" 1
expect "and processes" [ "$(on "$one" exec 0 bash -c 'ls -d /proc/[0-9]* | wc -l')" -lt 8 ]
interfaces() { on "$1" exec 0 ls /sys/class/net | wc -l; }
expect "and two interfaces beside lo, with 2 rails three" same "$(interfaces "$one") $(interfaces "$two")" "3 4"
expect "and reno for TCP" same "$(on "$one" exec 0 cat /proc/sys/net/ipv4/tcp_congestion_control)" reno
expect "hosts reach each other" reach 0 1

on "$one" down
expect "down leaves no process" same "$(processes_of "$id_one")" 0
expect "and no folder" [ ! -e "$one" ]
expect "but the other instance" on "$two" exec 2 true

mkdir "$one"
TEST_TIDE_HOSTS=$one bash -c "'$hosts' up 2 && cp '$one/tide-hosts' '$work/id' && kill -9 \$\$"
for ((i = 0; i < 100; i++)); do [ ! -e "$one" ] && [ "$(processes_of "$(< "$work/id")")" = 0 ] && break; sleep 0.1; done
expect "hosts end with the process that wanted them" same "$(processes_of "$(< "$work/id")")$([ -e "$one" ] && echo left)" 0
exit $failed
