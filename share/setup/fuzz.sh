#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Builds the fuzz targets (preset fuzz: clang's libFuzzer, address and undefined-behaviour sanitizers) and runs each from
# its corpus in tests/fuzz/corpus.  Exits nonzero where something was found, and says how to see it again.
usage="usage: share/setup/fuzz.sh [seconds per target, default 20] [target...]"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
case ${1:-} in -h | --help) echo "$usage"; exit 0 ;; esac
seconds=${1:-20}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "'$seconds' is not a number of seconds; $usage" >&2; exit 2; }
shift $(($# > 0))
targets=("$@")
[ ${#targets[@]} -gt 0 ] || for dir in tests/fuzz/corpus/*/; do targets+=("$(basename "$dir")"); done
launcher=()
if command -v ccache > /dev/null; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cmake --preset fuzz "${launcher[@]}" -DTIDE_FUZZ_SECONDS="$seconds" > /dev/null
cmake --build build/fuzz --parallel "$(nproc)" --target "${targets[@]/#/fuzz_}"
ctest --test-dir build/fuzz --verbose --no-tests=error -R "^fuzz\.($(IFS='|'; echo "${targets[*]}"))\$"
