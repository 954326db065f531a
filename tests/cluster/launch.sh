#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# launch.sh MPIEXEC RANKS-PER-HOST PROGRAM ARGUMENTS...   (2,2,1: three hosts, the last of one rank)
# Starts a program in the hosts of hosts.sh (TEST_TIDE_HOSTS), ranks host by host, with the launcher of either MPI.  The ranks
# get this environment: TIDE_RAIL=ucx, say.  MPI and UCX use all rails; UCX_NET_DEVICES and TEST_TIDE_NETS (CIDR list of
# Open MPI's TCP) narrow that.  TEST_TIDE_MPICH_SHIM: library that is loaded before MPICH's programs (mpich_shim.c says why).
set -uo pipefail
usage="usage: launch.sh MPIEXEC RANKS-PER-HOST PROGRAM ARGUMENTS..."
hosts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/hosts.sh
mpiexec=${1:?$usage} counts=${2:?$usage}; shift 2
mapfile -t names < <("$hosts" names)
[ ${#names[@]} -gt 0 ] || exit 1
IFS=, read -r -a ranks <<< "$counts"
[ ${#ranks[@]} -le ${#names[@]} ] || { echo "launch: $counts are ${#ranks[@]} hosts, ${#names[@]} are up" >&2; exit 1; }
total=0 list=''
for i in "${!ranks[@]}"; do
  list+=${list:+,}${names[i]}:${ranks[i]}
  total=$((total + ranks[i]))
done
joined() { paste -sd, <<< "$("$hosts" "$1")"; }
export UCX_NET_DEVICES=${UCX_NET_DEVICES:-$(joined rails)}
# A rail's device for each rank of a host, or all of them where there are fewer ranks.
fewest=$(sort -n <<< "${counts//,/$'\n'}" | head -n 1)
between=,; [ "$fewest" -ge "$("$hosts" rails | wc -l)" ] || between=+
export TIDE_RAIL_DEVICES=${TIDE_RAIL_DEVICES:-$(paste -sd$between <<< "$("$hosts" rails)")}
nets=${TEST_TIDE_NETS:-$(joined nets)}
management=${nets%%.*}.$(cut -d. -f2 <<< "$nets").255.0/24
case $("$mpiexec" --version 2>&1 < /dev/null) in
  *"Open MPI"* | *OpenRTE*)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # It yields by itself only where it knows that there are too few cores: slots say the opposite.
    exec "$hosts" exec head "$mpiexec" --mca plm rsh --mca plm_rsh_agent "$TEST_TIDE_HOSTS/agent" \
      --mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include "$management" --mca btl tcp,vader,self \
      --mca btl_tcp_if_include "$nets" --mca pml ob1 --mca mpi_yield_when_idle 1 --bind-to none \
      --host "$list" -n "$total" "$@" ;;
  *HYDRA* | *MPICH*)
    shim=()
    [ -z "${TEST_TIDE_MPICH_SHIM:-}" ] || shim=(-genv LD_PRELOAD "$TEST_TIDE_MPICH_SHIM")
    exec "$hosts" exec head "$mpiexec" -launcher rsh -launcher-exec "$TEST_TIDE_HOSTS/agent" -bind-to none \
      "${shim[@]}" -hosts "$list" -n "$total" "$@" ;;
  *) echo "launch: $mpiexec is neither Open MPI's nor MPICH's" >&2; exit 1 ;;
esac
