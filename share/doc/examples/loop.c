/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* A training loop: y = W x + b is fitted to data that each rank draws for itself.  The masters are
   fp32 shards, gathered as bf16; the gradients are bf16, averaged in fp32.  The guide explains it.
 */
#include <mpix_tide.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 50, COLS = 20, BATCH = 16, STEPS = 300 };
typedef uint16_t bf16;

static float from_bf16(bf16 x) {
  uint32_t bits = (uint32_t)x << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
static bf16 to_bf16(float value) { /* to nearest even; NaN does not occur here */
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
static float draw(uint64_t* state) { /* in [-1, 1) */
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (float)(int32_t)(*state >> 32) / 2147483648.0f;
}

/* Forward and backward on one batch: the mean squared error; its gradients go to dw and db. */
static float backward(const bf16* w, const bf16* b, bf16* dw, bf16* db, uint64_t* random) {
  float x[BATCH][COLS], loss = 0;
  for (int i = 0; i < BATCH; ++i)
    for (int c = 0; c < COLS; ++c) x[i][c] = draw(random);
  for (int r = 0; r < ROWS; ++r) {
    float sum_w[COLS] = {0}, sum_b = 0;
    for (int i = 0; i < BATCH; ++i) {
      float y = from_bf16(b[r]), target = 0.5f;
      for (int c = 0; c < COLS; ++c) {
        y += from_bf16(w[r * COLS + c]) * x[i][c];
        target += (float)((r + c) % 3) * x[i][c];
      }
      const float d = y - target;
      loss += d * d / (BATCH * ROWS);
      for (int c = 0; c < COLS; ++c) sum_w[c] += d * x[i][c] / BATCH;
      sum_b += d / BATCH;
    }
    for (int c = 0; c < COLS; ++c) dw[r * COLS + c] = to_bf16(sum_w[c]);
    db[r] = to_bf16(sum_b);
  }
  return loss;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  const int types = MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16); /* shard, gradient */
  const MPIX_Tide_param list[2] = {
      {.rows = ROWS, .row_elems = COLS, .dtype = MPIX_TIDE_BF16, .types = types},
      {.rows = ROWS, .row_elems = 1, .dtype = MPIX_TIDE_BF16, .types = types}};
  const char* const names[2] = {"weight", "bias"};
  MPIX_Tide_group group;
  MPIX_Tide_group_create(MPI_COMM_WORLD, 2, list, MPI_INFO_NULL, &group);
  MPIX_Tide_group_set_names(group, "layer.", names);

  /* Zeroed storage, each piece at ptrs[p]; the sums come in the shard type, as fp32. */
  void *full[2], *grad[2], *shard[2], *sum[2], *base[4];
  MPIX_Tide_group_alloc(group, MPIX_TIDE_FULL, 0, MPI_INFO_NULL, full, &base[0]);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_GRAD, 0, MPI_INFO_NULL, grad, &base[1]);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_SHARD, 0, MPI_INFO_NULL, shard, &base[2]);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_SHARD, 0, MPI_INFO_NULL, sum, &base[3]);

  uint64_t random = (uint64_t)rank + 1;
  float first = 0, loss = 0;
  for (int step = 0; step < STEPS; ++step) {
    MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shard), full, group);
    loss = backward(full[0], full[1], grad[0], grad[1], &random);
    MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grad), sum, 0, MPIX_TIDE_AVG, 1.0, group);
    for (int p = 0; p < 2; ++p) { /* the optimizer sees this rank's rows only */
      MPI_Count row, rows;
      MPIX_Tide_group_shard(group, p, rank, &row, &rows);
      for (MPI_Count i = 0; i < rows * list[p].row_elems; ++i)
        ((float*)shard[p])[i] -= 0.3f * ((float*)sum[p])[i];
    }
    if (step == 0) first = loss;
  }
  if (rank == 0) printf("loss %g -> %g: %s\n", first, loss, loss < first / 1000 ? "learned" : "?");

  for (int i = 0; i < 4; ++i) MPIX_Tide_free(MPI_COMM_WORLD, base[i]);
  MPIX_Tide_group_free(&group);
  MPI_Finalize();
  return 0;
}
