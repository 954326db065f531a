#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Installs Tide with the spack in the path (1.0 or newer) from this clone, as committed on its branch main, and runs the
# package's tests.  spack.sh SOURCE [SPEC...]      77: no spack
# Spack's packages and externals are those of the user's configuration; see spack/README.md.
set -euo pipefail
source=$(cd "$1" && pwd)
shift
spack=$(command -v spack) || { echo "SKIP: no spack in the path"; exit 77; }
[ $# -gt 0 ] || set -- tide@main
"$spack" --version
run() { echo "spack $*"; "$spack" -C "$scope" "$@"; }
scope=$(mktemp -d)
trap 'rm -rf "$scope"' EXIT
printf 'repos:\n  tide: %s/spack/spack_repo/tide\n' "$source" > "$scope/repos.yaml"
run audit packages tide
run spec "$@"
run install --test=root "$@"
run test run "$@"
