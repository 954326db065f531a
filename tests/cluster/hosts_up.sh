# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Part of hosts.sh: HOSTS [RAILS] [RATE].
count=${1:?$usage} rails=${2:-1} rate=${3:-}
[[ $count =~ ^[1-9][0-9]?$ && $rails =~ ^[1-8]$ ]] || die "'$count' hosts of '$rails' rails: 1 to 99 hosts, 1 to 8 rails"
tcp=${TEST_TIDE_TCP:-reno} tcps=$(cat /proc/sys/net/ipv4/tcp_allowed_congestion_control 2> /dev/null)
[[ " $tcps " == *" $tcp "* ]] || die "TEST_TIDE_TCP: this kernel permits '$tcps', not '$tcp'"
[ -z "$(ls -A "$dir")" ] || die "$dir is not empty: give TEST_TIDE_HOSTS a directory of its own"
owner=$PPID
for tool in unshare nsenter ip tc mount hostname; do
  command -v $tool > /dev/null || skip "$tool is not installed (Debian: iproute2, util-linux, hostname)"
done
why=$(unshare --net --uts --ipc --mount --pid --fork --mount-proc bash -c 'mount -t tmpfs tmpfs /dev/shm && hostname x &&
  ip link add br0 type bridge && ip link add up0 type veth peer name up1' 2>&1) ||
  skip "hosts need namespaces, mounts and veth pairs, which are not permitted here: ${why//$'\n'/; }"

id=$BASHPID.$RANDOM$RANDOM
net=$((BASHPID % 120 + 8))  # nothing is shared with another instance; different numbers tell their output apart
export TEST_TIDE_HOSTS_ID=$id
echo "$id" > "$dir/tide-hosts"
trap '[ -e "$dir/up" ] || down' EXIT
echo "$count" > "$dir/count"; echo "$rails" > "$dir/rails"; echo "10.$net" > "$dir/subnet"; echo "t${net}n" > "$dir/prefix"
mkdir -p "$dir/tmp/head" "$dir/cgroup"
prefix=t${net}n management=10.$net.255
{
  echo "127.0.0.1 localhost"
  echo "$management.254 ${prefix}head"
  for ((i = 0; i < count; i++)); do echo "$management.$((i + 1)) $prefix$i"; mkdir "$dir/tmp/$i"; done
} > "$dir/names"
echo "hosts: files" > "$dir/nsswitch"
printf '#!/usr/bin/env bash\nexport TEST_TIDE_HOSTS=%q\nexec %q rsh "$@"\n' "$dir" "$self" > "$dir/agent"
chmod +x "$dir/agent"

# UCX looks for its devices in /sys/class/net, which shows the network of the process that mounted it.
cat > "$dir/settle" <<'S'
dir=$1 name=$2 host=$3 tcp=$4
mount --make-rprivate /
cgroup=$(findmnt -no FSTYPE /sys/fs/cgroup)
[ -z "$cgroup" ] || mount --rbind /sys/fs/cgroup "$dir/cgroup"
mount -t sysfs none /sys
[ -z "$cgroup" ] || mount --rbind "$dir/cgroup" /sys/fs/cgroup
mount --bind "$dir/names" /etc/hosts
mount --bind "$dir/nsswitch" /etc/nsswitch.conf
[ "$host" = head ] || mount -t tmpfs tmpfs /dev/shm
hostname "$name"
# Of each network.  bbr, where a machine has that, takes a flow's rate from its past: what shared the link with others in
# one round starts too slow in the next.
echo "$tcp" > /proc/sys/net/ipv4/tcp_congestion_control
# A connection neither starts with the window that another one ended with, nor loses its own in a pause: what ran before would
# be part of the measurement.
echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save
echo 0 > /proc/sys/net/ipv4/tcp_slow_start_after_idle
ip link set lo up
: > "$dir/$host.ready"
[ "$host" != head ] || exec sleep infinity
sleep infinity &
while :; do wait; done  # process 1 of a host takes what is orphaned there
S
start() { # HOST NAME KINDS...
  unshare --net --uts --mount "${@:3}" bash "$dir/settle" "$dir" "$2" "$1" "$tcp" < /dev/null > "$dir/$1.log" 2>&1 &
  echo $! > "$dir/$1.unshare.pid"
  disown
}
start head "${prefix}head"
for ((i = 0; i < count; i++)); do start $i "$prefix$i" --ipc --pid --fork --mount-proc --kill-child; done
for ((i = 0; i < count; i++)); do
  for ((tries = 0; tries < 200; tries++)); do [ -e "$dir/$i.ready" ] && [ -e "$dir/head.ready" ] && break; sleep 0.02; done
  [ -e "$dir/$i.ready" ] && [ -e "$dir/head.ready" ] ||
    die "host $i or the head did not start: $(cat "$dir/$i.log" "$dir/head.log")"
  pgrep -P "$(< "$dir/$i.unshare.pid")" > "$dir/$i.pid"
done
mv "$dir/head.unshare.pid" "$dir/head.pid"
head=$(process_of head) || exit 1

network() { # BRIDGE ADDRESS-WITHOUT-LAST DEVICE-IN-HOST PORT-PREFIX
  in_net "$head" ip link add "$1" type bridge && in_net "$head" ip addr add "$2.254/24" dev "$1" &&
    in_net "$head" ip link set "$1" up || die "no bridge $1"
  local i process
  for ((i = 0; i < count; i++)); do
    process=$(process_of $i) || exit 1
    in_net "$head" ip link add "$4h$i" type veth peer name "$3" netns "$process" &&
      in_net "$head" ip link set "$4h$i" master "$1" up && in_net "$process" ip addr add "$2.$((i + 1))/24" dev "$3" &&
      in_net "$process" ip link set "$3" up || die "no link from host $i to $1"
  done
}
network mgmt "$management" eth0 e
for ((r = 0; r < rails; r++)); do network "switch$r" "10.$net.$r" "rail$r" "r$r"; done
set_rate "$rate"
setsid bash "$self" guard "$owner" < /dev/null > /dev/null 2>&1 &
echo $! > "$dir/guard.pid"
disown
: > "$dir/up"
