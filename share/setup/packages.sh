#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Installs what packages.txt and python.txt list, as root or by sudo.  Asks nothing, prints what it does, may run any number of times.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'packages: %s\n' "$*"; }
warn() { printf 'packages: warning: %s\n' "$*" >&2; }

list=()
while read -r line _; do
  case $line in '' | '#'*) ;; *) list+=("$line") ;; esac
done < "$here/packages.txt"

if ! command -v apt-get > /dev/null; then
  warn "no apt-get here; install the like of these yourself: ${list[*]}"
  exit 0
fi
as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo > /dev/null || { warn "needs root or sudo to install packages"; exit 1; }
  as_root=(sudo)
fi
apt() { # with retries: a mirror that fails once is common
  local try
  for try in 1 2 3; do
    if "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
        -o Acquire::Retries=3 "$@" < /dev/null; then return 0; fi
    [ "$try" = 3 ] || { warn "apt-get $1 failed, trying again"; sleep $((try * 3)); }
  done
  return 1
}

# Python packages, in a folder of their own inside the build folder.  Without them a test is left out.
python_packages() {
  local venv=$here/../../build/venv stamp
  stamp=$venv/installed.txt
  if cmp -s "$here/python.txt" "$stamp"; then return; fi
  if ! { python3 -m venv "$venv" &&
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/python.txt" < /dev/null &&
    cp "$here/python.txt" "$stamp"; }; then
    warn "could not install $(grep -c '^[a-z]' "$here/python.txt") Python package(s) of python.txt; tests that need them are left out"
    return
  fi
  say "installed in build/venv: $(grep '^[a-z]' "$here/python.txt" | tr '\n' ' ')"
}

missing=()
for entry in "${list[@]}"; do
  name=${entry%%=*} want=${entry#*=}
  have=$(dpkg-query -W -f='${db:Status-Status} ${Version}' "$name" 2> /dev/null || true)
  case $have in
    "installed $want"*) ;;
    "installed "*) warn "$name ${have#* } is installed; Tide is tested with $want" ;;
    *) missing+=("$entry") ;;
  esac
done
# What the system cannot have, or has not: in build/tools, for the tests alone; they are left out where this fails.
tools=$here/../../build/tools reframe=4.10.4 modules=5.2
private_tools() {
  mkdir -p "$tools"
  if [ "$("$tools/reframe/bin/reframe" --version 2> /dev/null)" != $reframe ]; then
    say "reframe $reframe into build/tools"
    { python3 -m venv "$tools/reframe" &&
      "$tools/reframe/bin/python" -m pip install -q --disable-pip-version-check "reframe-hpc==$reframe"; } < /dev/null ||
      warn "no reframe-hpc: the checks of share/reframe are not tried"
  fi
  # Debian's environment-modules and lmod exclude each other: unpacked, not installed.
  if [ ! -e "$tools/environment-modules/usr/lib/modulecmd.tcl" ]; then
    say "environment-modules $modules into build/tools"
    (cd "$tools" && apt-get download -q "environment-modules=$modules*" < /dev/null &&
      dpkg-deb -x environment-modules_*.deb environment-modules) ||
      warn "no environment-modules: its modulefile is not tried"
  fi
}

if [ ${#missing[@]} = 0 ]; then
  say "all ${#list[@]} are installed"
  private_tools
  python_packages
  exit 0
fi

say "to install: ${missing[*]}"
apt update -q || warn "apt-get update failed; going on with the lists that are here"
pinned=() names=()
for entry in "${missing[@]}"; do
  name=${entry%%=*} want=${entry#*=}
  offered=$(apt-cache madison "$name" | awk -F'|' '{gsub(/ /, "", $2); print $2}')
  version=$(awk -v want="$want" 'index($0, want) == 1 {print; exit}' <<< "$offered")
  names+=("$name")
  if [ -n "$version" ]; then
    pinned+=("$name=$version")
  else
    warn "$name $want is not offered; taking ${offered%%$'\n'*}"
    pinned+=("$name")
  fi
done
if ! apt install -y --no-install-recommends "${pinned[@]}"; then
  warn "could not install these versions together; taking what is offered"
  apt install -y --no-install-recommends "${names[@]}"
fi
say "installed: ${names[*]}"
private_tools
python_packages
