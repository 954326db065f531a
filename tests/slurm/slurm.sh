#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A private Slurm on the hosts of ../cluster/hosts.sh (TEST_TIDE_HOSTS): slurmctld and munged in the head, a slurmd in each
# host.  Its files are in $TEST_TIDE_HOSTS/slurm, and it ends with the hosts.
#   slurm.sh up [CPUS] [GPUS]   of each host, whatever the machine has; GPUs are /dev/null by another name
#   slurm.sh exec COMMAND...    in the head: sbatch, srun, scontrol
set -uo pipefail
usage=$(sed -n '6,7s/^# *//p' "${BASH_SOURCE[0]}")
hosts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../cluster/hosts.sh
dir=${TEST_TIDE_HOSTS:?is not set: bring hosts up first} lab=$TEST_TIDE_HOSTS/slurm
export SLURM_CONF=$lab/slurm.conf PATH=$PATH:/usr/sbin:/sbin
die() { echo "slurm: $*" >&2; [ ! -d "$lab" ] || tail -n 5 "$lab"/*.log >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

configuration() { # CPUS GPUS
  local count names
  count=$(< "$dir/count") names=$(< "$dir/prefix")"[0-$(($(< "$dir/count") - 1))]"
  [ "$count" -gt 1 ] || names=$(< "$dir/prefix")0
  cat << C
ClusterName=tide
SlurmctldHost=$(< "$dir/prefix")head
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$lab/munge/socket,cred_expire=5
StateSaveLocation=$lab/state
SlurmdSpoolDir=$lab/spool.%n
SlurmctldPidFile=$lab/run/slurmctld
SlurmdPidFile=$lab/run/%n
SlurmctldLogFile=$lab/slurmctld.log
SlurmdLogFile=$lab/%n.log
PlugStackConfig=$lab/plugstack.conf
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,bf_interval=2
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=5
GresTypes=gpu
NodeName=$names CPUs=$1 Boards=1 SocketsPerBoard=1 CoresPerSocket=$1 ThreadsPerCore=1 RealMemory=1000 Gres=gpu:$2 State=UNKNOWN
PartitionName=all Nodes=$names Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
C
}
daemon() { # HOST COMMAND...: in the foreground there, so that it ends with its host
  "$hosts" exec "$1" "${@:2}" < /dev/null >> "$lab/$1.out" 2>&1 &
}

case ${1:-} in
  up)
    cpus=${2:-4} gpus=${3:-2}
    for tool in munged slurmctld slurmd sbatch srun; do
      command -v $tool > /dev/null || 
        skip "$tool is not installed (Debian: munge slurmctld slurmd slurm-client slurm-wlm-basic-plugins)"
    done
    [ -e "$dir/tide-hosts" ] || die "no hosts in $dir"
    mountpoint -q /sys/fs/cgroup || skip "slurmd needs /sys/fs/cgroup, which is not mounted here"
    mkdir -p "$lab/munge" "$lab/state" "$lab/run"
    chmod 755 "$dir"  # munged wants its socket to be reachable
    : > "$lab/plugstack.conf"
    echo "CgroupAutomount=no" > "$lab/cgroup.conf"
    echo "PMIxCliTmpDirBase=/dev/shm" > "$lab/mpi.conf"  # of each host its own
    configuration "$cpus" "$gpus" > "$SLURM_CONF"
    for ((i = 0; i < gpus; i++)); do
      mknod "$lab/gpu$i" c 1 3 || skip "mknod is not permitted here"
      echo "Name=gpu File=$lab/gpu$i Flags=nvidia_gpu_env"
    done > "$lab/gres.conf"
    head -c 1024 /dev/urandom > "$lab/munge/key"
    chmod 600 "$lab/munge/key"
    TEST_TIDE_HOSTS_ID=$(< "$dir/tide-hosts")
    export TEST_TIDE_HOSTS_ID
    # In the head there is no process 1 of its own: these are told to hosts.sh, which ends them.
    daemon head munged --foreground --force --key-file="$lab/munge/key" --socket="$lab/munge/socket" \
      --pid-file="$lab/run/munged" --log-file="$lab/munged.log" --seed-file="$lab/munge/seed"
    echo $! > "$dir/munged.pid"
    for ((k = 0; k < 100; k++)); do [ -S "$lab/munge/socket" ] && break; sleep 0.05; done
    daemon head slurmctld -c -D
    echo $! > "$dir/slurmctld.pid"
    for ((i = 0; i < $(< "$dir/count"); i++)); do
      mkdir "$lab/spool.$(< "$dir/prefix")$i"
      daemon $i slurmd -D
    done
    for ((k = 0; k < 150; k++)); do
      [ "$("$hosts" exec head sinfo -h -o %T 2> /dev/null | sort -u)" = idle ] && exit 0
      sleep 0.2
    done
    die "the nodes are not idle: $("$hosts" exec head sinfo -h -N 2>&1)" ;;
  exec) "$hosts" exec head "${@:2}" ;;
  *) echo "$usage" >&2; exit 2 ;;
esac
