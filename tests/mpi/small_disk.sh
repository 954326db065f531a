#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# small_disk.sh MPIEXEC... PROGRAM ARGUMENTS: a job with a file system of 4 MiB, for checkpoints that do not fit.
set -euo pipefail
export TEST_TIDE_SMALL_FOLDER
TEST_TIDE_SMALL_FOLDER=$(mktemp -d)
trap 'rmdir "$TEST_TIDE_SMALL_FOLDER"' EXIT
if ! unshare -m --propagation private mount -t tmpfs -o size=4m tmpfs "$TEST_TIDE_SMALL_FOLDER" 2> /dev/null; then
  echo "skipped: unshare -m and mount are not permitted here (they need root)"
  exit 77
fi
# shellcheck disable=SC2016  # expanded inside
unshare -m --propagation private bash -c 'mount -t tmpfs -o size=4m tmpfs "$TEST_TIDE_SMALL_FOLDER" && exec "$@"' - "$@"
