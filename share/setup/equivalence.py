#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""Does sharding change what is learnt?  Trains with tide-train: sharded in both modes of the pipeline and replicated in
fp32, with two seeds, and prints the largest relative difference of the smoothed training loss over the last half of the
steps: between sharded and replicated, and, to compare with, between the seeds.

    share/setup/equivalence.py [--steps 1000] [--launch 'mpirun -n 2'] [--program tide-train] [-- OPTIONS of tide-train]
"""
import argparse
import csv
import itertools
import os
import shlex
import subprocess
import sys
import tempfile

MODES = ["in-place", "slot-reuse"]


def smoothed(losses, window):
    """Moving mean of the last `window` steps."""
    sums = [0.0, *itertools.accumulate(losses)]
    return [(sums[n + 1] - sums[max(0, n + 1 - window)]) / min(window, n + 1) for n in range(len(losses))]


def difference(a, b):
    """Largest relative difference over the last half, in per cent."""
    half = len(a) // 2
    return max(100 * abs(x - y) / abs(y) for x, y in zip(a[half:], b[half:]))


def run(arguments, seed, mode, models, folder):
    out = os.path.join(folder, f"{mode}-{seed}")
    command = [*shlex.split(arguments.launch), arguments.program, *models, "--mode", mode, "--seed", str(seed), "--steps",
               str(arguments.steps), "--step-log", "--no-plot", "--out", out, *arguments.options]
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        sys.exit(f"{shlex.join(command)}\nended with {result.returncode}:\n{result.stdout}{result.stderr}")
    with open(out + ".steps.csv") as file:
        rows = list(csv.DictReader(file))
    if len(rows) != arguments.steps:
        sys.exit(f"{out}.steps.csv has {len(rows)} steps instead of {arguments.steps}")
    columns = {name: [float(row[name]) for row in rows] for name in rows[0] if name != "step"}
    return {name: smoothed(losses, arguments.window) for name, losses in columns.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--window", type=int, default=50, help="steps that are averaged (50)")
    parser.add_argument("--seeds", type=int, nargs=2, default=[1, 2])
    parser.add_argument("--launch", default="mpirun -n 2")
    parser.add_argument("--program", default="tide-train")
    parser.add_argument("--limit", type=float, help="exit 1 if sharded and replicated differ by more per cent")
    parser.add_argument("options", nargs="*")
    arguments = parser.parse_args()
    sharded, replicated = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in arguments.seeds:
            for mode in MODES:
                models = ["--compare", "--exact-reference"] if mode == MODES[0] else ["--sharded"]
                curves = run(arguments, seed, mode, models, folder)
                sharded[mode, seed] = curves["sharded_loss"]
                if "reference_loss" in curves:
                    replicated[seed] = curves["reference_loss"]
    worst = 0.0
    for (mode, seed), curve in sharded.items():
        percent = difference(curve, replicated[seed])
        worst = max(worst, percent)
        print(f"sharded ({mode}), seed {seed}, against replicated fp32: {percent:.3f} %")
    one, other = arguments.seeds
    print(f"seed {one} against seed {other}, replicated fp32: {difference(replicated[one], replicated[other]):.3f} %")
    for mode in MODES:
        print(f"seed {one} against seed {other}, sharded ({mode}): "
              f"{difference(sharded[mode, one], sharded[mode, other]):.3f} %")
    same = all(sharded[MODES[0], seed] == sharded[MODES[1], seed] for seed in arguments.seeds)
    print(f"in-place and slot-reuse: {'the same to the last digit' if same else 'they differ'}")
    return 1 if arguments.limit is not None and worst > arguments.limit else 0


if __name__ == "__main__":
    sys.exit(main())
