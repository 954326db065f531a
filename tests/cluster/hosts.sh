#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Several hosts on one machine: each a set of namespaces (network, host name, IPC, processes, mounts) with its own /dev/shm
# and /proc, so that MPI, UCX and Tide see machines of their own.  A head, where mpiexec runs, has a bridge for each rail
# and one (eth0) for launchers, so that a rail may fail and the launcher live.
#   export TEST_TIDE_HOSTS=$(mktemp -d)   where all of it is kept; every command below needs it
#   hosts.sh up HOSTS [RAILS] [RATE]   RATE: 1gbit, say, in each direction of each host's rail; it all ends with the caller
#   hosts.sh exec HOST COMMAND...      HOST: 0, 1, ... or head
#   hosts.sh rate RATE|none            of all rails
#   hosts.sh link HOST RAIL down|up    the port of the switch: the host sees no carrier
#   hosts.sh loss PERMILLE|0           of the packets between hosts, on all rails; says how many there were
#   hosts.sh delay TIME|none           of each packet into a rail (needs netem)
#   hosts.sh names|nets|rails          of the hosts; of the rails (CIDR); of the devices
#   hosts.sh down
# TEST_TIDE_TCP: congestion control of the hosts, reno if unset, of those in sysctl net.ipv4.tcp_allowed_congestion_control.
# Exit status 77: not possible here, and why.
set -uo pipefail
usage=$(sed -n '7,15s/^# *//p' "${BASH_SOURCE[0]}")
self=$(readlink -f "${BASH_SOURCE[0]}")
here=$(dirname "$self")
die() { echo "hosts: $*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

[ $# -gt 0 ] || { echo "$usage" >&2; exit 2; }
dir=${TEST_TIDE_HOSTS:-}
[ -n "$dir" ] && [ -d "$dir" ] || die "TEST_TIDE_HOSTS='$dir' is no directory; export TEST_TIDE_HOSTS=\$(mktemp -d) first"
ours() { [ -s "$dir/tide-hosts" ] || die "$dir holds no hosts of this script (no file tide-hosts in it): left alone"; }

# A process is only touched while its environment names this instance: process ids come back.
alive() { [ -n "$1" ] && tr '\0' '\n' 2> /dev/null < "/proc/$1/environ" | grep -qxF "TEST_TIDE_HOSTS_ID=$(< "$dir/tide-hosts")"; }
process_of() { # a host's process 1, as seen from here
  local process
  process=$(cat "$dir/$1.pid" 2> /dev/null) && alive "$process" || die "there is no host '$1' in $dir"
  echo "$process"
}
enter() { # HOST COMMAND...
  local host=$1 process kinds=(--net --uts --mount); shift
  process=$(process_of "$host") || exit 1
  [ "$host" = head ] || kinds+=(--ipc --pid)
  export TMPDIR=$dir/tmp/$host
  exec nsenter --target "$process" "${kinds[@]}" --wdns="$PWD" -- "$@"
}
in_net() { nsenter --target "$1" --net -- "${@:2}"; }
for_each_port() { # FUNCTION ARGUMENTS...: called with process, device of both ends of each rail of each host
  local head host rail; head=$(process_of head) || exit 1
  for ((host = 0; host < $(< "$dir/count"); host++)); do
    local process; process=$(process_of $host) || exit 1
    for ((rail = 0; rail < $(< "$dir/rails"); rail++)); do
      "$1" "$process" "rail$rail" "${@:2}" && "$1" "$head" "r${rail}h$host" "${@:2}" || return 1
    done
  done
}
set_qdisc() { # PROCESS DEVICE KIND ARGUMENTS...|none
  in_net "$1" tc qdisc del dev "$2" root 2> /dev/null
  [ "$3" = none ] || in_net "$1" tc qdisc add dev "$2" root "${@:3}"
}
set_rate() {
  if [ -z "$1" ] || [ "$1" = none ]; then for_each_port set_qdisc none; else
    for_each_port set_qdisc tbf rate "$1" burst 256kb latency 20ms || die "tc refuses the rate '$1'"
  fi
}
set_loss() {
  local head; head=$(process_of head) || exit 1
  command -v nft > /dev/null || skip "packet loss needs nft (Debian: nftables)"
  in_net "$head" nft list table bridge loss 2> /dev/null |
    sed -n 's/.*counter packets \([0-9]*\).*/packets lost: \1/p'
  in_net "$head" nft delete table bridge loss 2> /dev/null
  [ "$1" = 0 ] && return
  # Not on eth0: the launcher's connections are no part of what is tested.
  in_net "$head" nft "table bridge loss { chain packets { type filter hook forward priority 0; iifname \"r*\" \
    numgen random mod 1000 < $1 counter drop; }; }" 2> "$dir/loss.log" || skip "this kernel's netfilter cannot lose packets: $(< "$dir/loss.log")"
}
set_delay() {
  [ "$1" = none ] || in_net "$(process_of head)" tc qdisc add dev lo root netem delay "$1" 2> /dev/null ||
    skip "this kernel has no netem: no delay of packets"
  in_net "$(process_of head)" tc qdisc del dev lo root 2> /dev/null
  if [ "$1" = none ]; then for_each_port set_qdisc none; else for_each_port set_qdisc netem delay "$1"; fi
}
down() {
  ours
  local file process processes=()
  for file in "$dir"/*.pid; do  # the death of process 1 ends all that runs in its host, and its links go with it
    process=$(cat "$file" 2> /dev/null)
    [ "$process" != $$ ] && alive "$process" && processes+=("$process")
  done
  [ ${#processes[@]} = 0 ] || kill -9 "${processes[@]}" 2> /dev/null
  for process in "${processes[@]}"; do
    while alive "$process"; do sleep 0.02; done
  done
  rm -rf --one-file-system "$dir"
}

case $1 in
  up) shift; . "$here/hosts_up.sh" ;;
  guard) # OWNER: the hosts end with the process that wanted them
    ours
    exec 9<> <(:)  # to rest without a process that outlives this one
    while [ -e "$dir/tide-hosts" ] && kill -0 "$2" 2> /dev/null; do read -rt 0.5 -u 9; done
    [ ! -e "$dir/tide-hosts" ] || down ;;
  exec) ours; enter "${@:2}" ;;
  rsh) # the remote shell of both launchers: [options] HOST-NAME WORDS...; the words go to a shell, as with rsh
    ours; shift
    while [[ ${1:-} == -* ]]; do shift; done
    host=${1#"$(< "$dir/prefix")"}; shift
    enter "$host" bash -c "$*" ;;
  rate) ours; set_rate "${2:?$usage}" ;;
  link) ours
    case ${4:-} in up | down) ;; *) die "link ... '${4:-}' is neither up nor down" ;; esac
    process=$(process_of head) || exit 1
    in_net "$process" ip link set "r${3}h$2" "$4" || die "host $2 has no rail $3" ;;
  loss) ours; set_loss "${2:?$usage}" ;;
  delay) ours; set_delay "${2:?$usage}" ;;
  names) ours; for ((i = 0; i < $(< "$dir/count"); i++)); do echo "$(< "$dir/prefix")$i"; done ;;
  nets) ours; for ((i = 0; i < $(< "$dir/rails"); i++)); do echo "$(< "$dir/subnet").$i.0/24"; done ;;
  rails) ours; for ((i = 0; i < $(< "$dir/rails"); i++)); do echo "rail$i"; done ;;
  down) down ;;
  *) echo "$usage" >&2; exit 2 ;;
esac
