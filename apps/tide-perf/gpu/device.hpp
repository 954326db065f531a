// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>

// What the benchmark itself needs of a GPU, beside the library: device memory that it fills and
// looks at.  One of three files stands behind it, as TIDE_WITH_CUDA says: cuda_device.cpp,
// emulated_device.cpp, no_device.cpp.
namespace perf::gpu {

/// Why this build has no devices and how to get one that has; empty if it has.
std::string not_built();
/// The same of kernels, NCCL and cuBLAS, which an emulated device has not.
std::string not_built_for_kernels();

/// Devices of this process; 0 where there are none, `why` then says so.
int devices(std::string& why);

/// This thread's device from here on; starts CUDA on it.
void use(int device);

/// "NVIDIA H200".
std::string name(int device);
/// Equal for the same device in all processes.
std::string uuid(int device);
/// "driver 580.65.06, CUDA 13.0 (driver's 13.0)".
std::string versions();

/// Bytes that the device in use can still give; -1 where that is unknown.
long long available_bytes();

/// Private memory of the device in use.
std::shared_ptr<char[]> allocate(std::size_t bytes);

// Each is complete when it returns.
void upload(void* device, const void* host, std::size_t bytes);
void download(void* host, const void* device, std::size_t bytes);
void fill(void* device, int byte, std::size_t bytes);

}  // namespace perf::gpu
