// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What is particular to device memory: who gets it, and what must not be mixed.
#include "list.hpp"

namespace tide_test {
namespace {

void* allocate(MPI_Comm comm, MPI_Aint bytes, const char* kind) {
  Info info{{"mpi_memory_alloc_kinds", kind}};
  void* base = nullptr;
  TIDE_OK(MPIX_Tide_alloc(comm, bytes, info, &base));
  return base;
}

TEST(Device, KindsOfMemoryMustAgree) {
  Info info{{"mpi_memory_alloc_kinds", world().rank == 0 ? "cuda:device" : "system"}};
  void* base = nullptr;
  if (world().size > 1) {
    expect_failure(MPIX_Tide_alloc(world().comm, 64, info, &base), {mismatch});
  }
  Info odd{{"mpi_memory_alloc_kinds", "rocm"}};
  expect_failure(MPIX_Tide_alloc(world().comm, 64, odd, &base), {arg});
  EXPECT_EQ(nullptr, base);
}

TEST(Device, HostAndDeviceMemoryDoNotMix) {
  List list(world(), {param(4 * world().size, 3, MPIX_TIDE_FP32)});
  const size_t full = list.full_bytes()[0];
  void* device = allocate(world().comm, static_cast<MPI_Aint>(2 * full), "cuda:device");
  void* host = allocate(world().comm, static_cast<MPI_Aint>(2 * full), "system");
  // In one rank's lists; then between ranks.
  const void* shard[] = {host};
  void* params[] = {static_cast<char*>(device) + full};
  expect_failure(MPIX_Tide_allgather(shard, params, list.group()), {buffer});
  if (world().size > 1) {
    void* mine = world().rank == 0 ? device : host;
    shard[0] = mine;
    params[0] = static_cast<char*>(mine) + full;
    expect_failure(MPIX_Tide_allgather(shard, params, list.group()), {buffer});
  }
  shard[0] = device;
  params[0] = static_cast<char*>(device) + full;
  TIDE_OK(MPIX_Tide_allgather(shard, params, list.group()));
  std::string report(1 << 14, '\0');
  TIDE_OK(MPIX_Tide_group_report(list.group(), report.data(), report.size(), nullptr));
  EXPECT_NE(std::string::npos, report.find("\"path\": \"cuda-direct\"")) << report;
  EXPECT_NE(std::string::npos, report.find("\"sm_blocks\": 64")) << report;  // tide_landing_ctas
  shard[0] = host;
  params[0] = static_cast<char*>(host) + full;
  TIDE_OK(MPIX_Tide_allgather(shard, params, list.group()));
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, device));
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, host));
}

// Copies to the node, rounded ones and others, and sums through emulated addresses.
TEST(Device, EmulatedMulticast) {
  Info info{{"tide_multicast", "emulate"}};
  const MPIX_Tide_param big = param(64, 513, MPIX_TIDE_FP32);
  List list(world(),
            {big, param(64, 333, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16))}, info);
  Info kind{{"mpi_memory_alloc_kinds", "cuda:device"}};
  void *shards[2], *params[2], *grads[2], *sums[2];
  void* base[4];
  const int what[] = {MPIX_TIDE_SHARD, MPIX_TIDE_FULL, MPIX_TIDE_GRAD, MPIX_TIDE_SHARD};
  void** const lists[] = {shards, params, grads, sums};
  for (int i = 0; i < 4; i++)
    TIDE_OK(MPIX_Tide_group_alloc(list.group(), what[i], 0, kind, lists[i], &base[i]));
  TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards), params, list.group()));
  TIDE_OK(
      MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads), sums, 0, MPIX_TIDE_SUM, 1.0, list.group()));
  std::string report(1 << 14, '\0');
  TIDE_OK(MPIX_Tide_group_report(list.group(), report.data(), report.size(), nullptr));
  const bool several = world().members[static_cast<size_t>(world().my_node())].size() > 1;
  const size_t gathered = report.find("\"path\": \"cuda-multicast\"");
  EXPECT_EQ(several, gathered != std::string::npos) << report;
  EXPECT_EQ(several, report.find("\"path\": \"cuda-multicast\"", gathered + 1) < report.size())
      << report;
  for (void* memory : base) TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, memory));
}

}  // namespace
}  // namespace tide_test
