#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# tide-perf on hosts whose rails have a known rate, against what the wire allows.
usage="usage: tests/cluster/perf.sh [options] BUILD...   (build/openmpi build/mpich)
  --hosts 2,4      numbers of hosts            --ranks 1,2     ranks on each host
  --rails 1,2      rails of each host          --rate 1gbit    of a rail, in each direction
  --rail mpi       what carries Tide's bytes: TIDE_RAIL (mpi, ucx), a list
  --model llama70b  --mib 16  --reps 5  --collective allgather,reduce-scatter   as in tide-perf
One row for each combination.  bound: the bytes that a host must receive, (M-1)/M of the list (all-gather) or of the
partial sums (reduce-scatter: fp32, or the raw gradients where a host has one rank), over the rate that one TCP stream a
rail had before the runs.  puts: the same bytes by plain ucp_put_nbx over the same devices, unpaced, without sums (puts.cpp;
right after Tide's run; - where it is not UCX).  share: of each rail in what host 0 received.  stock, flat: see tide-perf --help."
set -uo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
hosts=2,4 ranks=1,2 rails=1,2 rate=1gbit rail=mpi model=llama70b mib=16 reps=5 collective=allgather,reduce-scatter builds=()
while [ $# -gt 0 ]; do
  case $1 in
    --hosts | --ranks | --rails | --rate | --rail | --model | --mib | --reps | --collective)
      declare "${1#--}=${2:?$usage}"; shift 2 ;;
    -h | --help) echo "$usage"; exit 0 ;;
    -*) echo "unknown option $1"; echo "$usage" >&2; exit 2 ;;
    *) builds+=("$1"); shift ;;
  esac
done
[ ${#builds[@]} -gt 0 ] || { echo "$usage" >&2; exit 2; }
for m in ${hosts//,/ }; do
  [[ $m =~ ^[0-9]+$ ]] && [ "$m" -ge 2 ] || { echo "perf: --hosts $hosts: give numbers from 2 on, as one host has no rails" >&2; exit 2; }
done
for build in "${builds[@]}"; do
  for program in apps/tide-perf/tide-perf tests/cluster/cluster_wire; do
    [ -x "$build/$program" ] || { echo "perf: $build/$program is not built" >&2; exit 1; }
  done
done

work=$(mktemp -d) || exit 1
trap 'lower; rm -rf "$work"' EXIT
lower() { [ ! -e "$TEST_TIDE_HOSTS/tide-hosts" ] || "$here/hosts.sh" down; }
export TEST_TIDE_HOSTS=$work/hosts
raise() { lower; mkdir -p "$TEST_TIDE_HOSTS"; "$here/hosts.sh" up "$1" "$2" "$rate" || exit; }
cached() { sed -n "s/^$2:[A-Z]*=//p" "$1/CMakeCache.txt"; }

wire_rate() { # BUILD RAILS: bytes a second from host 0 to host 1, all rails at once
  local wire=$1/tests/cluster/cluster_wire i to=()
  for ((i = 0; i < $2; i++)); do
    to[i]=$(< "$TEST_TIDE_HOSTS/subnet").$i.2
    "$here/hosts.sh" exec 1 "$wire" receive "${to[i]}" 5000 > "$work/rate.$i" &
    "$here/hosts.sh" exec 0 "$wire" send "${to[i]}" 5000 2 &
  done
  wait
  cat "$work"/rate.* | awk '{sum += $1} END {printf "%.0f\n", sum}'
  rm "$work"/rate.*
}
raw_puts() { # BUILD COUNTS BYTES-TO-EACH-PEER: milliseconds
  [ -x "$1/tests/cluster/cluster_puts" ] || { echo -; return; }
  timeout -k 5 60 "$here/launch.sh" "$mpiexec" "$2" "$1/tests/cluster/cluster_puts" "$3" 262144 "$reps" < /dev/null 2> /dev/null |
    awk '$1 == "puts" {print $2}'
}
received() { "$here/hosts.sh" exec 0 bash -c 'cat /sys/class/net/rail*/statistics/rx_bytes'; }
median() { awk -v row="$1" '$1 == row {print $2; exit}' "$work/out"; }

echo "# $(date -u +%FT%TZ)  $(nproc) cores  rate $rate  list $model of $mib MiB, $reps repetitions"
printf '%-8s %5s %5s %5s %4s %-14s %9s %8s %8s %6s %8s %8s %8s  %s\n' MPI hosts ranks rails rail collective \
  'wire MB/s' 'bound ms' 'tide ms' ratio 'puts ms' 'stock ms' 'flat ms' share
failed=0
for build in "${builds[@]}"; do
  mpiexec=$(cached "$build" MPIEXEC_EXECUTABLE) mpi=$(basename "$build")
  shim=$(readlink -f "$build/tests/cluster")/libtide_mpich_shim.so
  [ -e "$shim" ] || shim=''
  export TEST_TIDE_MPICH_SHIM=$shim
  for m in ${hosts//,/ }; do for r in ${rails//,/ }; do
    raise "$m" "$r"
    wire=$(wire_rate "$build" "$r")
    for l in ${ranks//,/ }; do for kind in ${rail//,/ }; do for what in ${collective//,/ }; do
      counts=$(for ((i = 0; i < m; i++)); do printf '%s,' "$l"; done)
      mapfile -t before < <(received)
      if ! TIDE_RAIL=$kind timeout -k 5 300 "$here/launch.sh" "$mpiexec" "${counts%,}" "$build/apps/tide-perf/tide-perf" \
          --model "$model" --mib "$mib" --collective "$what" --baselines stock,flat --reps "$reps" --warmup 1 \
          --json "$work/json" < /dev/null > "$work/out" 2>&1; then
        cat "$work/out"; echo "FAILED: $mpi $m x $l, $r rails, $kind, $what"; failed=1
        continue
      fi
      share=$(received | awk -v before="${before[*]}" 'BEGIN {split(before, b)} {got[NR] = $1 - b[NR]; all += got[NR]}
        END {for (i = 1; i <= NR; i++) printf "%s%.0f", (i > 1 ? "/" : ""), 100 * got[i] / all; print " %"}')
      bytes=$(sed -n 's/^ *"full_bytes": \([0-9]*\).*/\1/p' "$work/json" | head -n 1)
      [ "$what" != reduce-scatter ] || [ "$l" = 1 ] || bytes=$((2 * bytes))
      puts=-
      [ "$kind" != ucx ] || puts=$(raw_puts "$build" "${counts%,}" $((bytes / m / l)))
      awk -v b="$bytes" -v m="$m" -v wire="$wire" -v tide="$(median tide)" -v stock="$(median stock)" \
        -v flat="$(median flat)" -v head="$(printf '%-8s %5s %5s %5s %4s %-14s' "$mpi" "$m" "$l" "$r" "$kind" "$what")" \
        -v puts="${puts:--}" -v share="$share" 'BEGIN {
          bound = 1e3 * b * (m - 1) / m / wire
          printf "%s %9.1f %8.1f %8.1f %6.2f %8s %8.1f %8.1f  %s\n", head, wire / 1e6, bound, tide, tide / bound, puts, stock, flat, share
        }'
    done; done; done
  done; done
done
exit $failed
