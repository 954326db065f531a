// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What is behind gpu.hpp's Stream and Program: cuda_stream.cpp makes and runs them,
// cuda_program.cpp fills programs.  Programs live in memory of the stream's own order
// (cudaMallocAsync): nothing here waits for work of others that a wait may hold up.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "backend/cuda/cuda_driver.hpp"
#include "backend/cuda/gpu.hpp"
#include "backend/cuda/kernels.hpp"

namespace tide::gpu {

struct Stream::State {
  int device = 0;
  cudaStream_t stream = nullptr;
  std::array<cudaEvent_t, 16> events{};  // of the last marks
  cudaEvent_t passed = nullptr;          // for those that follow: a mark would push others out
  uint64_t marks = 0;
  bool rings = false;
};

class Program {
 public:
  Program(int device, cudaStream_t stream) : device_(device), stream_(stream) {}
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  void upload(const std::vector<char>& image) {
    check(cudaMallocAsync(&at_, image.size(), stream_), "cudaMallocAsync");
    constexpr size_t staged = size_t{64} << 10;  // longer ones may wait for the stream
    for (size_t at = 0; at < image.size(); at += staged)
      check(cudaMemcpyAsync(static_cast<char*>(at_) + at, image.data() + at,
                            std::min(staged, image.size() - at), cudaMemcpyHostToDevice, stream_),
            "cudaMemcpyAsync");
  }
  template <class T>
  const T* at(size_t offset) const {
    return reinterpret_cast<const T*>(static_cast<const char*>(at_) + offset);
  }
  enum class Kernel { landing, sum, ring, switched } kernel = Kernel::landing;
  size_t tiles = 0;
  LandingProgram landing{};
  SumProgram sum{};
  RingProgram ring{};
  std::vector<CopyCall> copies;
  std::atomic<cudaGraphExec_t> launch = nullptr;  // of the copies; null: put off
  void make_graph();

 private:
  int device_;
  cudaStream_t stream_;
  void* at_ = nullptr;
};

}  // namespace tide::gpu
