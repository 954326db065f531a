/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* A sharded training step: y = W x + b, fitted to targets that differ by rank.  fp32 masters are
   gathered as bf16; bf16 gradients are averaged in fp32.  The examples in all languages print the
   same. */
#include <mpix_tide.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 8, COLS = 4, SAMPLES = 4, STEPS = 5 };
typedef uint16_t bf16;

static double from_bf16(bf16 x) {
  uint32_t bits = (uint32_t)x << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

/* One rounding, to nearest even: by way of a float with an odd last bit where x lies between two,
   which the second rounding cannot mistake for a tie.  NaN does not occur here. */
static bf16 to_bf16(double x) {
  float near = (float)x;
  uint32_t bits;
  memcpy(&bits, &near, 4);
  if (near != x && !(bits & 1)) bits += (x > 0 ? x > near : x < near) ? 1 : -1;
  return (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Forward and backward on this rank's samples: the loss; the gradients go to dw and db. */
static double backward(int rank, const bf16* w, const bf16* b, bf16* dw, bf16* db) {
  double loss = 0, sum_w[ROWS][COLS] = {{0}}, sum_b[ROWS] = {0};
  for (int s = 0; s < SAMPLES; ++s) {
    double x[COLS];
    for (int c = 0; c < COLS; ++c) x[c] = ((rank * SAMPLES + s + c) % 5 - 2) / 4.0;
    for (int r = 0; r < ROWS; ++r) {
      double y = from_bf16(b[r]);
      for (int c = 0; c < COLS; ++c) y += from_bf16(w[r * COLS + c]) * x[c];
      const double d = y - ((rank + s + r) % 3 - 1) / 2.0;
      loss += d * d / (SAMPLES * ROWS);
      for (int c = 0; c < COLS; ++c) sum_w[r][c] += 2 * d * x[c] / (SAMPLES * ROWS);
      sum_b[r] += 2 * d / (SAMPLES * ROWS);
    }
  }
  for (int r = 0; r < ROWS; ++r) {
    for (int c = 0; c < COLS; ++c) dw[r * COLS + c] = to_bf16(sum_w[r][c]);
    db[r] = to_bf16(sum_b[r]);
  }
  return loss;
}

static float first_value(int p, MPI_Count row, MPI_Count col) {
  return p == 0 ? (float)((row * COLS + col) % 7 - 3) / 8 : (float)(row % 3 - 1) / 4;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  const int types = MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16); /* shard, gradient */
  const MPIX_Tide_param list[2] = {
      {.rows = ROWS, .row_elems = COLS, .dtype = MPIX_TIDE_BF16, .types = types},
      {.rows = ROWS, .row_elems = 1, .dtype = MPIX_TIDE_BF16, .types = types}};
  MPIX_Tide_group group;
  MPIX_Tide_group_create(MPI_COMM_WORLD, 2, list, MPI_INFO_NULL, &group);

  void *full[2], *grad[2], *master[2], *mean[2], *base[4];
  MPIX_Tide_group_alloc(group, MPIX_TIDE_FULL, 0, MPI_INFO_NULL, full, &base[0]);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_GRAD, 0, MPI_INFO_NULL, grad, &base[1]);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_SHARD, 0, MPI_INFO_NULL, master, &base[2]);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_SHARD, 0, MPI_INFO_NULL, mean, &base[3]);

  MPI_Count first, rows;
  for (int p = 0; p < 2; ++p) {
    MPIX_Tide_group_shard(group, p, rank, &first, &rows);
    for (MPI_Count i = 0; i < rows * list[p].row_elems; ++i)
      ((float*)master[p])[i] = first_value(p, first + i / list[p].row_elems, i % list[p].row_elems);
  }

  for (int step = 0; step < STEPS; ++step) {
    /* The owner rounds its masters to bf16, so that all ranks compute with the same bits. */
    MPIX_Tide_allgather(MPIX_TIDE_INPUTS(master), full, group);
    const double loss = backward(rank, full[0], full[1], grad[0], grad[1]);
    MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grad), mean, 0, MPIX_TIDE_AVG, 1.0, group);
    for (int p = 0; p < 2; ++p) { /* the optimizer sees this rank's rows only */
      MPIX_Tide_group_shard(group, p, rank, &first, &rows);
      for (MPI_Count i = 0; i < rows * list[p].row_elems; ++i)
        ((float*)master[p])[i] -= 0.5f * ((float*)mean[p])[i];
    }
    double sum = 0;
    MPI_Reduce(&loss, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("step %d loss %.6f\n", step, sum / ranks);
  }

  for (int i = 0; i < 4; ++i) MPIX_Tide_free(MPI_COMM_WORLD, base[i]);
  MPIX_Tide_group_free(&group);
  MPI_Finalize();
  return 0;
}
