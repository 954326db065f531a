// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The sharded training step of c/step.c on GPUs: y = W x + b, fitted to targets that differ by
// rank. Everything is put on one stream; the host waits once, after the last step.
#include <cuda_bf16.h>
#include <mpix_tide.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

enum { ROWS = 8, COLS = 4, SAMPLES = 4, STEPS = 5 };
using bf16 = __nv_bfloat16;

static void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Forward and backward of one output row a thread, on this rank's samples.
__global__ void backward(int rank, const bf16* w, const bf16* b, bf16* dw, bf16* db, double* loss) {
  const int r = threadIdx.x;
  double mine = 0, sum_w[COLS] = {}, sum_b = 0;
  for (int s = 0; s < SAMPLES; ++s) {
    double x[COLS], y = __bfloat162float(b[r]);
    for (int c = 0; c < COLS; ++c) {
      x[c] = ((rank * SAMPLES + s + c) % 5 - 2) / 4.0;
      y += __bfloat162float(w[r * COLS + c]) * x[c];
    }
    const double d = y - ((rank + s + r) % 3 - 1) / 2.0;
    mine += d * d / (SAMPLES * ROWS);
    for (int c = 0; c < COLS; ++c) sum_w[c] += 2 * d * x[c] / (SAMPLES * ROWS);
    sum_b += 2 * d / (SAMPLES * ROWS);
  }
  for (int c = 0; c < COLS; ++c) dw[r * COLS + c] = __double2bfloat16(sum_w[c]);
  db[r] = __double2bfloat16(sum_b);
  loss[r] = mine;
}

// The optimizer sees this rank's rows only.
__global__ void update(float* master, const float* mean, long elems) {
  for (long i = threadIdx.x; i < elems; i += blockDim.x) master[i] -= 0.5f * mean[i];
}

static float first_value(int p, MPI_Count row, MPI_Count col) {
  return p == 0 ? float((row * COLS + col) % 7 - 3) / 8 : float(row % 3 - 1) / 4;
}

int main(int argc, char** argv) {
  int level, rank, ranks, devices = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);  // between nodes a thread calls MPI
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(rank % devices));  // on one node; else by the rank inside the node
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

  const int types = MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16);  // shard, gradient
  const MPIX_Tide_param list[2] = {{ROWS, COLS, 0, MPIX_TIDE_BF16, types},
                                   {ROWS, 1, 0, MPIX_TIDE_BF16, types}};
  MPIX_Tide_group group;
  MPIX_Tide_group_create(MPI_COMM_WORLD, 2, list, MPI_INFO_NULL, &group);

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_memory_alloc_kinds", "cuda:device");
  void *full[2], *grad[2], *master[2], *mean[2], *base[4];
  MPIX_Tide_group_alloc(group, MPIX_TIDE_FULL, 0, info, full, &base[0]);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_GRAD, 0, info, grad, &base[1]);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_SHARD, 0, info, master, &base[2]);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_SHARD, 0, info, mean, &base[3]);
  MPI_Info_free(&info);

  MPI_Count first, rows[2];
  for (int p = 0; p < 2; ++p) {
    const MPI_Count elems = list[p].row_elems;
    MPIX_Tide_group_shard(group, p, rank, &first, &rows[p]);
    std::vector<float> values(size_t(rows[p] * elems));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = first_value(p, first + MPI_Count(i) / elems, MPI_Count(i) % elems);
    check(cudaMemcpy(master[p], values.data(), values.size() * 4, cudaMemcpyHostToDevice));
  }
  double* loss;  // of each row, step by step
  check(cudaMalloc(&loss, sizeof(double) * STEPS * ROWS));

  for (int step = 0; step < STEPS; ++step) {
    MPIX_Tide_allgather_enqueue(MPIX_TIDE_INPUTS(master), full, group, stream);
    backward<<<1, ROWS, 0, stream>>>(rank, static_cast<bf16*>(full[0]), static_cast<bf16*>(full[1]),
                                     static_cast<bf16*>(grad[0]), static_cast<bf16*>(grad[1]),
                                     loss + step * ROWS);
    MPIX_Tide_reduce_scatter_enqueue(MPIX_TIDE_INPUTS(grad), mean, 0, MPIX_TIDE_AVG, 1.0, group,
                                     stream);
    for (int p = 0; p < 2; ++p)
      update<<<1, 32, 0, stream>>>(static_cast<float*>(master[p]), static_cast<float*>(mean[p]),
                                   long(rows[p] * list[p].row_elems));
  }
  check(cudaStreamSynchronize(stream));
  int error;  // what no call could return, as it came later
  MPIX_Tide_group_async_error(group, &error);
  if (error != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, error);

  std::vector<double> all(STEPS * ROWS);
  check(cudaMemcpy(all.data(), loss, sizeof(double) * all.size(), cudaMemcpyDeviceToHost));
  for (int step = 0; step < STEPS; ++step) {
    double mine = 0, sum = 0;
    for (int r = 0; r < ROWS; ++r) mine += all[size_t(step * ROWS + r)];
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("step %d loss %.6f\n", step, sum / ranks);
  }

  for (void* memory : base) MPIX_Tide_free(MPI_COMM_WORLD, memory);
  MPIX_Tide_group_free(&group);
  cudaFree(loss);
  MPI_Finalize();
}
