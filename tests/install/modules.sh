#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A test of the installed modulefiles: show, load, unload, a second version.
# modules.sh WORK PREFIX VERSION LIBDIR COMMAND...: the command answers `COMMAND... bash load NAME` with lines to evaluate
set -euo pipefail
work=$1 prefix=$2 version=$3 lib=$4
shift 4
command=("$@")
fail() { printf '%s\n' "$*" >&2; exit 1; }
module() { eval "$("${command[@]}" bash "$@" 2> "$work/said")"; }
rm -rf "$work"
mkdir -p "$work"
export HOME=$work PATH=/usr/local/bin:/usr/bin:/bin # its caches; a path without doubles, which a tool may drop
unset LOADEDMODULES _LMFILES_ MODULEPATH MODULERCFILE LMOD_SYSTEM_DEFAULT_MODULES CPATH LIBRARY_PATH LD_LIBRARY_PATH \
  PKG_CONFIG_PATH CMAKE_PREFIX_PATH TIDE_HOME

# A second version in a prefix of its own, of which only the modulefiles exist; the Tcl file alone, which both tools read.
other="$work/other prefix" tcl=$work/tcl
mkdir -p "$other/share/modulefiles/tide" "$tcl/share/modulefiles/tide"
for file in "$prefix/share/modulefiles/tide/$version"*; do
  cp "$file" "$other/share/modulefiles/tide/99.0${file##*/"$version"}"
done
cp "$prefix/share/modulefiles/tide/$version" "$tcl/share/modulefiles/tide/"

state() { printf '%s|' "$PATH" "${CPATH-}" "${LIBRARY_PATH-}" "${LD_LIBRARY_PATH-}" "${PKG_CONFIG_PATH-}" "${CMAKE_PREFIX_PATH-}" "${TIDE_HOME-}"; }
expect_loaded() { # of this prefix, and of no other
  [ "${TIDE_HOME-}" = "$1" ] || fail "TIDE_HOME is '${TIDE_HOME-}', not '$1': $(cat "$work/said")"
  [ "$(state)" = "$1/bin:$path|$1/include|$1/$lib|$1/$lib|$1/$lib/pkgconfig|$1|$1|" ] || fail "loaded: $(state)"
}
path=$PATH before=$(state)
for root in "$prefix" "$tcl"; do
  export MODULEPATH=$root/share/modulefiles:$other/share/modulefiles
  module show "tide/$version"
  grep -q "LD_LIBRARY_PATH.*$root/$lib" "$work/said" || fail "show: $(cat "$work/said")"
  grep -q "Sharded parameter collectives" "$work/said" || fail "show has no description: $(cat "$work/said")"
  module load "tide/$version" || fail "load: $(cat "$work/said")"
  expect_loaded "$root"
  if [ -x "$root/bin/tide-info" ]; then
    [ "$(command -v tide-info)" = "$root/bin/tide-info" ] || fail "tide-info is $(command -v tide-info)"
    tide-info --version | grep -q "$version" || fail "tide-info --version: $(tide-info --version)"
  fi
  # Beside a loaded version another is refused or takes its place; both at once never.
  module load tide/99.0 || true
  case $TIDE_HOME in
    "$root") grep -qi conflict "$work/said" || fail "refused without a word: $(cat "$work/said")"
             module unload "tide/$version" || fail "unload: $(cat "$work/said")" ;;
    *) expect_loaded "$other"
       module unload tide/99.0 || fail "unload: $(cat "$work/said")" ;;
  esac
  [ "$(state)" = "$before" ] || fail "unload left $(state)"
done
echo "${command[*]}: shown, loaded, unloaded"
