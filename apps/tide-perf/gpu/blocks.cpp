// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/blocks.hpp"

#include <fmt/format.h>

#include "gpu/blocks_kernel.hpp"
#include "gpu/device.hpp"

namespace perf::gpu {

Blocks::Blocks() {
  int device = 0, shared_bytes = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&per_launch_, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "cudaDeviceGetAttribute");
  check(prepare_blocks(shared_bytes), "cudaFuncSetAttribute");
  const auto blocks = static_cast<std::size_t>(per_launch_);
  times_ = allocate(launches * blocks * sizeof(BlockTimes));
  auto* times = reinterpret_cast<BlockTimes*>(times_.get());
  const auto issue = [=](std::size_t launch, cudaStream_t stream) {
    check(launch_blocks(times + launch * blocks, static_cast<unsigned>(blocks), shared_bytes,
                        block_us * 1000, stream),
          "launch of the probe");
  };
  const Stream once;
  issue(0, once);  // loaded before the recording
  once.synchronise();
  victim_ = std::make_unique<Victim>([&](cudaStream_t stream) {
    for (std::size_t launch = 0; launch < launches; ++launch) issue(launch, stream);
  });
}

std::string Blocks::words() const {
  return fmt::format("{} launches of {} blocks, one a multiprocessor, {} us each", launches,
                     per_launch_, block_us);
}

std::vector<BlockTimes> Blocks::times() const {
  std::vector<BlockTimes> all(static_cast<std::size_t>(launches * per_launch_));
  download(all.data(), times_.get(), all.size() * sizeof(BlockTimes));
  return all;
}

}  // namespace perf::gpu
