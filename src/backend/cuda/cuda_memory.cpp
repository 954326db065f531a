// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Devices and their memory.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "backend/cuda/cuda_driver.hpp"
#include "backend/cuda/gpu.hpp"

namespace tide::gpu {

const char* built() { return "cuda"; }

int devices(std::string* why) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) return count;
  cudaGetLastError();
  if (why) *why = code == cudaSuccess ? "CUDA shows no device" : cudaGetErrorString(code);
  return 0;
}

int current() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

std::string name(int device) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return properties.name;
}

Uuid uuid(int device) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  Uuid result;
  std::memcpy(result.data(), &properties.uuid, result.size());
  return result;
}

bool in_use() {
  static std::atomic<bool> seen = false;
  if (!seen) seen = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY) != nullptr;
  return seen;
}

// A program that has not loaded CUDA's driver has no device memory: none is loaded for the answer.
int device_of(const void* address) {
  static std::atomic<decltype(&cuPointerGetAttribute)> ask = nullptr;
  auto get = ask.load(std::memory_order_acquire);
  if (!get) {
    void* library = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
    if (!library) return -1;
    get = reinterpret_cast<decltype(get)>(dlsym(library, "cuPointerGetAttribute"));
    if (!get) return -1;
    ask.store(get, std::memory_order_release);
  }
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  CUmemorytype type{};
  int device = -1;
  if (get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CUDA_SUCCESS ||
      type != CU_MEMORYTYPE_DEVICE ||
      get(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at) != CUDA_SUCCESS)
    return -1;
  return device;
}

Use::Use(int device) : before_(device) {
  if (cudaGetDevice(&before_) != cudaSuccess || before_ != device)
    check(cudaSetDevice(device), "cudaSetDevice");
}
Use::~Use() {
  int now = before_;
  if (cudaGetDevice(&now) == cudaSuccess && now != before_) cudaSetDevice(before_);
}

static CUmemAllocationProp properties_of(int device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  int rdma = 0;  // for NICs, where both can
  cudaDeviceGetAttribute(&rdma, cudaDevAttrGPUDirectRDMASupported, device);
  properties.allocFlags.gpuDirectRDMACapable = static_cast<unsigned char>(rdma != 0);
  return properties;
}

static void* map(uint64_t handle, size_t bytes, int device) {
  CUdeviceptr at = 0;
  check(driver().mem_address_reserve(&at, bytes, 0, 0, 0), "cuMemAddressReserve");
  const CUresult mapped = driver().mem_map(at, bytes, 0, handle, 0);
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  const CUresult opened =
      mapped == CUDA_SUCCESS ? driver().mem_set_access(at, bytes, &access, 1) : mapped;
  if (opened != CUDA_SUCCESS) {
    if (mapped == CUDA_SUCCESS) driver().mem_unmap(at, bytes);
    driver().mem_address_free(at, bytes);
    check(opened, mapped == CUDA_SUCCESS ? "cuMemSetAccess" : "cuMemMap");
  }
  return reinterpret_cast<void*>(at);
}

std::unique_ptr<Memory> Memory::create(int device, size_t bytes) {
  const Use use(device);
  cudaFree(nullptr);  // makes the device's context, which the driver's calls need
  std::unique_ptr<Memory> memory(new Memory);
  memory->device_ = device;
  const CUmemAllocationProp properties = properties_of(device);
  size_t granularity = 1;
  check(driver().mem_granularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
        "cuMemGetAllocationGranularity");
  const size_t whole = (bytes + granularity - 1) / granularity * granularity;
  CUmemGenericAllocationHandle handle = 0;
  check(driver().mem_create(&handle, whole, &properties, 0), "cuMemCreate");
  memory->handle_ = handle;
  memory->mapped_bytes_ = whole;
  check(driver().mem_export(&memory->fd_, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        "cuMemExportToShareableHandle");
  memory->address_ = map(handle, whole, device);
  cudaStream_t stream = nullptr;  // not the default one, which may wait for others
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  const cudaError_t zeroed = cudaMemsetAsync(memory->address_, 0, whole, stream);
  const cudaError_t done = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  check(zeroed != cudaSuccess ? zeroed : done, "cudaMemsetAsync");
  return memory;
}

std::unique_ptr<Memory> Memory::attach(int device, size_t mapped_bytes, int fd) {
  std::unique_ptr<Memory> memory(new Memory);
  memory->fd_ = fd;
  memory->device_ = device;
  const Use use(device);
  cudaFree(nullptr);
  CUmemGenericAllocationHandle handle = 0;
  check(driver().mem_import(&handle, reinterpret_cast<void*>(static_cast<intptr_t>(fd)),
                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        "cuMemImportFromShareableHandle");
  memory->handle_ = handle;
  memory->mapped_bytes_ = mapped_bytes;
  memory->address_ = map(handle, mapped_bytes, device);
  memory->close_descriptor();
  return memory;
}

Memory::~Memory() {
  close_descriptor();
  if (address_) {
    driver().mem_unmap(reinterpret_cast<CUdeviceptr>(address_), mapped_bytes_);
    driver().mem_address_free(reinterpret_cast<CUdeviceptr>(address_), mapped_bytes_);
  }
  if (handle_) driver().mem_release(handle_);
}

void Memory::close_descriptor() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::shared_ptr<const void> pin(void* address, size_t bytes) {
  check(cudaHostRegister(address, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped),
        "cudaHostRegister");
  std::shared_ptr<const void> pinned(
      address, [](const void* at) { cudaHostUnregister(const_cast<void*>(at)); });
  void* there = nullptr;
  check(cudaHostGetDevicePointer(&there, address, 0), "cudaHostGetDevicePointer");
  if (there != address)
    throw Error(Kind::unsupported,
                "this device does not reach host memory at its own address; use host memory");
  return pinned;
}

}  // namespace tide::gpu
