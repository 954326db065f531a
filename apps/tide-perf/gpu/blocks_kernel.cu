// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/blocks_kernel.hpp"

namespace perf::gpu {
namespace {

constexpr int threads = 384;  // three warp groups, as GEMMs of this GPU have

__device__ std::uint64_t now_ns() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__global__ void __launch_bounds__(threads, 1) stay(BlockTimes* times, std::uint64_t ns) {
  extern __shared__ char room[];
  if (threadIdx.x == 0) {
    const std::uint64_t begin = now_ns();
    std::uint32_t multiprocessor;
    asm volatile("mov.u32 %0, %smid;" : "=r"(multiprocessor));
    room[0] = 0;
    std::uint64_t now = begin;
    while (now - begin < ns) now = now_ns();
    times[blockIdx.x] = {begin, now, multiprocessor};
  }
  __syncthreads();
}

}  // namespace

cudaError_t prepare_blocks(int shared_bytes) {
  return cudaFuncSetAttribute(stay, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
}

cudaError_t launch_blocks(BlockTimes* times, unsigned blocks, int shared_bytes, std::uint64_t ns,
                          cudaStream_t stream) {
  stay<<<blocks, threads, static_cast<std::size_t>(shared_bytes), stream>>>(times, ns);
  return cudaGetLastError();
}

}  // namespace perf::gpu
