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

}  // namespace
}  // namespace tide_test
