// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Not a test: rates of both collectives on device memory, beside plain copies of as many bytes in
// the same run.  mpirun -n 4 tide_gpu_bench [MiB per rank] [parameters]
#include <cuda_runtime_api.h>
#include <mpix_tide.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

template <class F>
double seconds(F&& f) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  f();
  double mine = MPI_Wtime() - begun, worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int mib = argc > 1 ? std::atoi(argv[1]) : 32, count = argc > 2 ? std::atoi(argv[2]) : 30;
  const MPI_Count rows = 64 * size;
  const MPI_Count elems = static_cast<MPI_Count>(mib) * (1 << 20) / 2 / 64 / count / 8 * 8;
  std::vector<MPIX_Tide_param> params(
      static_cast<size_t>(count),
      {rows, elems, 0, MPIX_TIDE_BF16, MPIX_TIDE_TYPES(MPIX_TIDE_BF16, MPIX_TIDE_BF16)});
  MPIX_Tide_group group;
  MPIX_Tide_group_create(MPI_COMM_WORLD, count, params.data(), MPI_INFO_NULL, &group);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_memory_alloc_kinds", "cuda:device");
  std::vector<void*> full(params.size()), shard(params.size()), grad(params.size()),
      out(params.size());
  void *b1, *b2, *b3, *b4;
  MPIX_Tide_group_alloc(group, MPIX_TIDE_FULL, 0, info, full.data(), &b1);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_SHARD, 0, info, shard.data(), &b2);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_GRAD, 0, info, grad.data(), &b3);
  MPIX_Tide_group_alloc(group, MPIX_TIDE_SHARD, MPIX_TIDE_FP32, info, out.data(), &b4);
  const size_t shard_bytes = static_cast<size_t>(elems) * 64 * 2 * params.size();
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  std::vector<double> gather, reduce, copy, up, issue_gather, issue_reduce;
  void* host = nullptr;
  cudaHostAlloc(&host, shard_bytes, 0);
  for (int k = 0; k < 25; k++) {
    gather.push_back(
        seconds([&] { MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shard.data()), full.data(), group); }));
    copy.push_back(seconds([&] {  // what the gather writes, from one end of the memory to the other
      for (int r = 0; r < size; r++)
        cudaMemcpyAsync(static_cast<char*>(b1) + static_cast<size_t>(r) * shard_bytes, b2,
                        shard_bytes, cudaMemcpyDeviceToDevice, stream);
      cudaStreamSynchronize(stream);
    }));
    reduce.push_back(seconds([&] {
      MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grad.data()), out.data(), MPIX_TIDE_FP32,
                               MPIX_TIDE_SUM, 1.0, group);
    }));
    // What the calling thread spends on a call in the order of a stream.
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = MPI_Wtime();
    MPIX_Tide_allgather_enqueue(MPIX_TIDE_INPUTS(shard.data()), full.data(), group, stream);
    const double between = MPI_Wtime();
    MPIX_Tide_reduce_scatter_enqueue(MPIX_TIDE_INPUTS(grad.data()), out.data(), MPIX_TIDE_FP32,
                                     MPIX_TIDE_SUM, 1.0, group, stream);
    issue_gather.push_back(between - before);
    issue_reduce.push_back(MPI_Wtime() - between);
    cudaStreamSynchronize(stream);
    up.push_back(seconds([&] {
      cudaMemcpyAsync(b2, host, shard_bytes, cudaMemcpyHostToDevice, stream);
      cudaStreamSynchronize(stream);
    }));
  }
  if (rank == 0) {
    const double all = static_cast<double>(shard_bytes) * size;
    std::printf(
        "%d ranks, %d parameters, shard %.1f MiB: all-gather %.3f ms (%.0f GB/s written a "
        "rank), plain copies %.3f ms, ratio %.2f; reduce-scatter %.3f ms (%.0f GB/s read a "
        "rank); host to device %.1f GB/s; a call on a stream takes its thread %.1f and %.1f us\n",
        size, count, static_cast<double>(shard_bytes) / (1 << 20), median(gather) * 1e3,
        all / median(gather) / 1e9, median(copy) * 1e3, median(copy) / median(gather),
        median(reduce) * 1e3, all / median(reduce) / 1e9,
        static_cast<double>(shard_bytes) / median(up) / 1e9, median(issue_gather) * 1e6,
        median(issue_reduce) * 1e6);
  }
  for (void* base : {b1, b2, b3, b4}) MPIX_Tide_free(MPI_COMM_NULL, base);
  MPIX_Tide_group_free(&group);
  MPI_Info_free(&info);
  MPI_Finalize();
}
