// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "gpu/cuda.hpp"

namespace perf::gpu {

/// What the calls are to disturb: work that is recorded once as a graph and launched as often as
/// wanted, on a stream of its own.
class Victim {
 public:
  /// `record` issues the work on the stream that it is given; what it loads or allocates at first
  /// use must have been, as it is called within a capture.
  explicit Victim(const std::function<void(cudaStream_t)>& record);
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  void launch();
  bool running();
  double seconds();  // of the last launch, from its begin to its end on the device; waits for it

 private:
  Stream stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace perf::gpu
