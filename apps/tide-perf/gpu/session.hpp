// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "options.hpp"

// Which device each rank has, and NCCL and CUPTI beside it.
namespace tools {
class Cupti;
}

namespace perf::gpu {

class Nccl;

struct Session {
  int device = -1;                   // of this rank; -1: a run on host memory
  int sharing = 1;                   // ranks of the run on this rank's device
  std::vector<std::string> devices;  // of each rank: "0 NVIDIA H200"
  std::string versions;              // of CUDA and its driver
  std::shared_ptr<Nccl> nccl;        // or null, and then `no_nccl` says why
  std::shared_ptr<Nccl> nccl_ce;     // the same whose all-gathers copy engines carry
  std::string nccl_version, no_nccl, no_nccl_ce;
  std::shared_ptr<tools::Cupti> cupti;  // of --trace: records what the device does
  // Where they are loaded from; empty: where CUPTI usually is.
  std::string nccl_library, cublas_library, cupti_library;
};

/// Chooses this rank's device (--memory cuda:K, else TIDE_DEVICE, else the rank's place on its host
/// modulo the count of devices), starts CUDA on it, CUPTI where it is to record, and NCCL where a
/// baseline needs it.  Nothing of this for host memory.  Collective; throws AgreedError on all
/// ranks.
Session open_session(const Options& options, MPI_Comm comm);

}  // namespace perf::gpu
