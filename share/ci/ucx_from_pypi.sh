#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# UCX of a pinned version, as a Python wheel (CUDA and TCP, no verbs), in a folder of its own that Tide builds against:
#   share/ci/ucx_from_pypi.sh FOLDER          needs pip, 90 MB
#   cmake -S . -B build -Ducx_DIR=FOLDER/libucx/lib/cmake/ucx
# An older UCX of the system stays where it is.  Who runs a program of this build puts FOLDER/libucx/lib into LD_LIBRARY_PATH,
# for UCX has one name in all versions and MPI brings its own: one process gets one UCX, which must be the newer one.
set -euo pipefail
version=1.22.0
folder=$(realpath -m "${1:?usage: share/ci/ucx_from_pypi.sh FOLDER}")
prefix=$folder/libucx
if [ ! -e "$prefix/UCX_WHEEL_VERSION.txt" ] || [ "$(< "$prefix/UCX_WHEEL_VERSION.txt")" != $version ]; then
  rm -rf "$prefix" "$folder"/libucx_cu13*
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --target "$folder" libucx-cu13==$version
fi
# It was made in another place.
sed -i "s|^prefix *=.*|prefix = $prefix|" "$prefix"/lib/pkgconfig/*.pc
cmake=$prefix/lib/cmake/ucx
[ -e "$cmake/ucx-config.cmake" ] || { echo "ucx_from_pypi: $cmake has no ucx-config.cmake" >&2; exit 1; }
echo "UCX $version: -Ducx_DIR=$cmake"
echo "to run: LD_LIBRARY_PATH=$prefix/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
