// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Not a test: how fast pinned host memory lands in a device's memory in pieces, as the slots of a
// rail that arrives on the host do, beside one plain copy of as many bytes, in turn.
//   tide_landing_bench [MiB]
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "backend/cuda/gpu.hpp"

namespace {

using tide::gpu::CopyCall;

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

template <class F>
double seconds(F&& f) {
  const auto begun = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t mib = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 256;
  const std::size_t bytes = std::clamp<std::size_t>(mib, 1, 16384) << 20;
  const int device = tide::gpu::current();
  void *host = nullptr, *to = nullptr;
  if (cudaHostAlloc(&host, bytes, 0) != cudaSuccess || cudaMalloc(&to, bytes) != cudaSuccess) {
    std::fprintf(stderr, "tide_landing_bench: no room for %zu MiB on the host and the device\n",
                 mib);
    return 1;
  }
  cudaStream_t plain = nullptr;
  cudaStreamCreateWithFlags(&plain, cudaStreamNonBlocking);
  for (const std::size_t pieces : {1, 30, 100, 300, 1000, 3000}) {
    const std::size_t size = bytes / pieces / 16 * 16;
    std::vector<CopyCall> calls;
    for (std::size_t k = 0; k < pieces; ++k)  // the last in the slots is the first to land
      calls.push_back({static_cast<char*>(to) + k * size,
                       static_cast<const char*>(host) + (pieces - 1 - k) * size, size});
    tide::gpu::Stream stream(device);
    const auto program = stream.copies(calls);
    stream.drain();
    std::vector<double> landing, copy;
    for (int rep = -1; rep < 15; ++rep) {
      const double a = seconds([&] {
        stream.run(*program, {}, 1);
        stream.drain();
      });
      const double b = seconds([&] {
        cudaMemcpyAsync(to, host, size * pieces, cudaMemcpyHostToDevice, plain);
        cudaStreamSynchronize(plain);
      });
      if (rep < 0) continue;
      landing.push_back(a);
      copy.push_back(b);
    }
    std::printf("%5zu pieces of %9.1f KiB: %.3f of the plain copy's rate (%.1f GB/s)\n", pieces,
                static_cast<double>(size) / 1024, median(copy) / median(landing),
                static_cast<double>(size * pieces) / median(copy) / 1e9);
  }
  cudaStreamDestroy(plain);
  cudaFree(to);
  cudaFreeHost(host);
}
