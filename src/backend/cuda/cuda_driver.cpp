// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/cuda/cuda_driver.hpp"

#include <cstdlib>

#include "backend/cuda/gpu.hpp"

namespace tide::gpu {

// The version whose signature cuda.h of 12.4 and later declares under the plain name.
void* driver_entry(const char* name, unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  const cudaError_t code =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
#else
  const cudaError_t code = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (code != cudaSuccess || result != cudaDriverEntryPointSuccess || !found)
    throw Error(
        Kind::unsupported,
        "the CUDA driver has no {} of version {}; Tide needs a driver of CUDA 12.4 or later", name,
        version);
  return found;
}

namespace {

template <class Function>
void find(Function& function, const char* name, unsigned version) {
  function = reinterpret_cast<Function>(driver_entry(name, version));
}

Driver load() {
  Driver d{};
  find(d.mem_create, "cuMemCreate", 10020);
  find(d.mem_release, "cuMemRelease", 10020);
  find(d.mem_address_reserve, "cuMemAddressReserve", 10020);
  find(d.mem_address_free, "cuMemAddressFree", 10020);
  find(d.mem_map, "cuMemMap", 10020);
  find(d.mem_unmap, "cuMemUnmap", 10020);
  find(d.mem_set_access, "cuMemSetAccess", 10020);
  find(d.mem_granularity, "cuMemGetAllocationGranularity", 10020);
  find(d.mem_export, "cuMemExportToShareableHandle", 10020);
  find(d.mem_import, "cuMemImportFromShareableHandle", 10020);
  find(d.stream_write_value, "cuStreamWriteValue32", 11070);
  find(d.stream_wait_value, "cuStreamWaitValue32", 11070);
  find(d.module_loading_mode, "cuModuleGetLoadingMode", 11070);
  find(d.error_string, "cuGetErrorString", 6000);
  return d;
}

// Before the program's first CUDA call, as a rule.  With the default a kernel that is launched for
// the first time behind a call of Tide's stops that call (gpu.hpp).
__attribute__((constructor)) void load_eagerly() { setenv("CUDA_MODULE_LOADING", "EAGER", 0); }

}  // namespace

bool loads_lazily() {
  CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
  check(driver().module_loading_mode(&mode), "cuModuleGetLoadingMode");
  return mode == CU_MODULE_LAZY_LOADING;
}

const Driver& driver() {
  static const Driver found = load();
  return found;
}

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // it would otherwise stand for the next call's
  throw Error(code == cudaErrorMemoryAllocation ? Kind::no_mem : Kind::device, "{}: {}", what,
              cudaGetErrorString(code));
}

void check(CUresult code, const char* what) {
  if (code == CUDA_SUCCESS) return;
  const char* words = nullptr;
  driver().error_string(code, &words);
  throw Error(code == CUDA_ERROR_OUT_OF_MEMORY ? Kind::no_mem : Kind::device, "{}: {}", what,
              words ? words : "unknown error");
}

}  // namespace tide::gpu
