// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The CUDA driver's functions, found at run time by name and version, so that one build of Tide
// also runs where there is no driver.  No multicast function is among them: those are in
// multicast.cpp, which few builds have.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "core/error.hpp"

namespace tide::gpu {

struct Driver {
  decltype(&cuMemCreate) mem_create;
  decltype(&cuMemRelease) mem_release;
  decltype(&cuMemAddressReserve) mem_address_reserve;
  decltype(&cuMemAddressFree) mem_address_free;
  decltype(&cuMemMap) mem_map;
  decltype(&cuMemUnmap) mem_unmap;
  decltype(&cuMemSetAccess) mem_set_access;
  decltype(&cuMemGetAllocationGranularity) mem_granularity;
  decltype(&cuMemExportToShareableHandle) mem_export;
  decltype(&cuMemImportFromShareableHandle) mem_import;
  decltype(&cuStreamWriteValue32) stream_write_value;
  decltype(&cuStreamWaitValue32) stream_wait_value;
  decltype(&cuModuleGetLoadingMode) module_loading_mode;
  decltype(&cuGetErrorString) error_string;
};
// Error{unsupported}
void* driver_entry(const char* name, unsigned version);
const Driver& driver();  // Error{unsupported} where there is none, or too old a one

// Throws what a runtime, or driver, call brought: no_mem or device.
void check(cudaError_t code, const char* what);
void check(CUresult code, const char* what);

}  // namespace tide::gpu
