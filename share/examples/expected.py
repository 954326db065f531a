#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# What the step examples print on N ranks, without Tide, MPI or shards: expected.py N > expected_N.txt
import struct
import sys
from fractions import Fraction

ROWS, COLS, SAMPLES, STEPS = 8, 4, 4, 5


def bf16(x):  # the nearest of 8 significant bits, to even (of normal numbers)
    x = Fraction(x)
    step = Fraction(1)
    while abs(x) >= 256 * step:
        step *= 2
    while x and abs(x) < 128 * step:
        step /= 2
    return float(round(x / step) * step)


def fp32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def loss_and_gradients(k, w, b):
    loss, dw, db = 0.0, [[0.0] * COLS for _ in range(ROWS)], [0.0] * ROWS
    for s in range(SAMPLES):
        x = [((k * 4 + s + c) % 5 - 2) / 4 for c in range(COLS)]
        for r in range(ROWS):
            d = b[r] + sum(w[r][c] * x[c] for c in range(COLS)) - ((k + s + r) % 3 - 1) / 2
            loss += d * d / 32
            db[r] += 2 * d / 32
            for c in range(COLS):
                dw[r][c] += 2 * d * x[c] / 32
    return loss, [[bf16(g) for g in row] for row in dw], [bf16(g) for g in db]


ranks = int(sys.argv[1])
w = [[((r * 4 + c) % 7 - 3) / 8 for c in range(COLS)] for r in range(ROWS)]
b = [(r % 3 - 1) / 4 for r in range(ROWS)]


def updated(old, grads):
    total = 0.0
    for g in grads:
        total = fp32(total + g)
    return fp32(old - fp32(0.5 * fp32(total / ranks)))


for step in range(STEPS):
    seen_w, seen_b = [[bf16(v) for v in row] for row in w], [bf16(v) for v in b]
    parts = [loss_and_gradients(k, seen_w, seen_b) for k in range(ranks)]
    print("step %d loss %.6f" % (step, sum(p[0] for p in parts) / ranks))
    w = [[updated(w[r][c], [p[1][r][c] for p in parts]) for c in range(COLS)] for r in range(ROWS)]
    b = [updated(b[r], [p[2][r] for p in parts]) for r in range(ROWS)]
