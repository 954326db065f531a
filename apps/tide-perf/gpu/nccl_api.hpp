// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <climits>
#include <cstddef>
#include <string>

#include "gpu/cuda.hpp"

// NCCL's interface (nccl.h) as far as it is called here, in declarations of our own: programs bring
// the library without its header.
namespace perf::gpu {

struct NcclId {
  char internal[128];
};

/// ncclConfig_t as of 2.28: later versions append to it and go by `size` and `version`.
struct NcclConfig {
  static constexpr int unset = INT_MIN;
  std::size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef, version = 22800;
  int blocking = unset, cga_cluster_size = unset, min_ctas = unset, max_ctas = unset;
  const char* net_name = nullptr;
  int split_share = unset, traffic_class = unset;
  const char* comm_name = nullptr;
  int collnet_enable = unset, cta_policy = unset, shrink_share = unset, nvls_ctas = unset;
  int channels_per_net_peer = unset, nvlink_centric_sched = unset;
};

struct NcclApi {
  int version = 0;  // 22809 is 2.28.9
  int (*get_version)(int*);
  int (*get_unique_id)(NcclId*);
  int (*comm_init_rank)(void**, int, NcclId, int);
  int (*comm_destroy)(void*);
  const char* (*get_error_string)(int);
  int (*all_gather)(const void*, void*, std::size_t, int, void*, cudaStream_t);
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, void*, cudaStream_t);
  // From 2.28, null before.
  int (*comm_init_rank_config)(void**, int, NcclId, int, NcclConfig*);
  int (*mem_alloc)(void**, std::size_t);
  int (*mem_free)(void*);
  int (*window_register)(void*, void*, std::size_t, void**, int);
  int (*window_deregister)(void*, void*);

  /// Or why it failed.  Switches NCCL's multicast (NVLS) off first, unless NCCL_NVLS_ENABLE is set.
  std::string load(const std::string& file);
};

/// "2.28.9".
std::string nccl_version_words(int version);

}  // namespace perf::gpu
