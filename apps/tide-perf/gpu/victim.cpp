// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/victim.hpp"

namespace perf::gpu {

Victim::Victim(const std::function<void(cudaStream_t)>& record) {
  check(cudaEventCreate(&begin_), "cudaEventCreate");
  check(cudaEventCreate(&end_), "cudaEventCreate");
  cudaGraph_t recorded = nullptr;
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
  record(stream_);
  check(cudaStreamEndCapture(stream_, &recorded), "cudaStreamEndCapture");
  const cudaError_t made = cudaGraphInstantiate(&graph_, recorded, 0);
  cudaGraphDestroy(recorded);
  check(made, "cudaGraphInstantiate");
  launch();
  seconds();
}

Victim::~Victim() {
  cudaGraphExecDestroy(graph_);
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
}

void Victim::launch() {
  check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
  check(cudaGraphLaunch(graph_, stream_), "cudaGraphLaunch");
  check(cudaEventRecord(end_, stream_), "cudaEventRecord");
}

bool Victim::running() {
  const cudaError_t code = cudaEventQuery(end_);
  if (code == cudaErrorNotReady) return true;
  check(code, "cudaEventQuery");
  return false;
}

double Victim::seconds() {
  float ms = 0;
  check(cudaEventSynchronize(end_), "cudaEventSynchronize");
  check(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime");
  return ms * 1e-3;
}

}  // namespace perf::gpu
