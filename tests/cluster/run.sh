#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# run.sh RANKS-PER-HOST RAILS RATE MPIEXEC PROGRAM ARGUMENTS...: hosts for one run; exit status 77 where there can be none.
set -uo pipefail
usage="usage: run.sh RANKS-PER-HOST RAILS RATE|none MPIEXEC PROGRAM ARGUMENTS..."
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
counts=${1:?$usage} rails=${2:?$usage} rate=${3:?$usage}; shift 3
[[ $counts =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || { echo "run: '$counts' is no list of ranks a host, as in 2,1,2; $usage" >&2; exit 2; }
TEST_TIDE_HOSTS=$(mktemp -d) || exit 1
export TEST_TIDE_HOSTS
trap '[ ! -e "$TEST_TIDE_HOSTS/tide-hosts" ] || "$here/hosts.sh" down; rm -rf "$TEST_TIDE_HOSTS"' EXIT
commas=${counts//[!,]/}
"$here/hosts.sh" up $((${#commas} + 1)) "$rails" "$rate" || exit
timeout -k 5 "${TEST_TIDE_LIMIT_S:-100}" "$here/launch.sh" "$1" "$counts" "${@:2}" < /dev/null
