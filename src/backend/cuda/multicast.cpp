// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Multicast objects by the CUDA driver.  Only builds with TIDE_WITH_MULTICAST=ON have this file; it
// has not run on hardware.
#include <unistd.h>

#include "backend/cuda/cuda_driver.hpp"
#include "backend/cuda/gpu.hpp"

namespace tide::gpu {
namespace {

struct Functions {
  decltype(&cuDeviceGet) device;
  decltype(&cuDeviceGetAttribute) attribute;
  decltype(&cuMulticastCreate) create;
  decltype(&cuMulticastAddDevice) add_device;
  decltype(&cuMulticastBindMem) bind;
  decltype(&cuMulticastUnbind) unbind;
  decltype(&cuMulticastGetGranularity) granularity;
};

template <class Function>
void find(Function& function, const char* name, unsigned version) {
  function = reinterpret_cast<Function>(driver_entry(name, version));
}

const Functions& functions() {
  static const Functions found = [] {
    Functions f{};
    find(f.device, "cuDeviceGet", 2000);
    find(f.attribute, "cuDeviceGetAttribute", 2000);
    find(f.create, "cuMulticastCreate", 12010);
    find(f.add_device, "cuMulticastAddDevice", 12010);
    find(f.bind, "cuMulticastBindMem", 12010);
    find(f.unbind, "cuMulticastUnbind", 12010);
    find(f.granularity, "cuMulticastGetGranularity", 12010);
    return f;
  }();
  return found;
}

CUdevice number_of(int device) {
  CUdevice number = 0;
  check(functions().device(&number, device), "cuDeviceGet");
  return number;
}

CUmulticastObjectProp properties(size_t bytes, size_t devices) {
  CUmulticastObjectProp wanted{};
  wanted.numDevices = static_cast<unsigned>(devices);
  wanted.size = bytes;
  wanted.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return wanted;
}

}  // namespace

bool multicast_supported(int device) {
  int supported = 0;
  check(
      functions().attribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, number_of(device)),
      "cuDeviceGetAttribute");
  return supported != 0;
}

// Device memory comes in whole pages, which are as large.
size_t multicast_bytes(int device, size_t bytes, size_t devices) {
  const Use use(device);
  const CUmulticastObjectProp wanted = properties(bytes, devices);
  size_t step = 1;
  check(functions().granularity(&step, &wanted, CU_MULTICAST_GRANULARITY_MINIMUM),
        "cuMulticastGetGranularity");
  return (bytes + step - 1) / step * step;
}

std::unique_ptr<MulticastObject> MulticastObject::create(int device, size_t bytes, size_t devices) {
  const Use use(device);
  std::unique_ptr<MulticastObject> object(new MulticastObject);
  object->device_ = device;
  object->bytes_ = bytes;
  const CUmulticastObjectProp wanted = properties(bytes, devices);
  CUmemGenericAllocationHandle handle = 0;
  check(functions().create(&handle, &wanted), "cuMulticastCreate");
  object->handle_ = handle;
  check(driver().mem_export(&object->fd_, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        "cuMemExportToShareableHandle");
  return object;
}

std::unique_ptr<MulticastObject> MulticastObject::attach(int device, size_t bytes, int fd) {
  const Use use(device);
  std::unique_ptr<MulticastObject> object(new MulticastObject);
  object->fd_ = fd;
  object->device_ = device;
  object->bytes_ = bytes;
  CUmemGenericAllocationHandle handle = 0;
  check(driver().mem_import(&handle, reinterpret_cast<void*>(static_cast<intptr_t>(fd)),
                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        "cuMemImportFromShareableHandle");
  object->handle_ = handle;
  object->close_descriptor();
  return object;
}

void MulticastObject::add_device(int device) {
  check(functions().add_device(handle_, number_of(device)), "cuMulticastAddDevice");
}

void MulticastObject::bind(const Memory& memory, size_t bytes) {
  const Use use(device_);
  check(functions().bind(handle_, 0, memory.handle(), 0, bytes, 0), "cuMulticastBindMem");
  bound_bytes_ = bytes;
}

void MulticastObject::map(const std::vector<char*>&) {
  const Use use(device_);
  CUdeviceptr at = 0;
  check(driver().mem_address_reserve(&at, bytes_, 0, 0, 0), "cuMemAddressReserve");
  const CUresult mapped = driver().mem_map(at, bytes_, 0, handle_, 0);
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, device_},
                         CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  const CUresult opened =
      mapped == CUDA_SUCCESS ? driver().mem_set_access(at, bytes_, &access, 1) : mapped;
  if (opened != CUDA_SUCCESS) {
    if (mapped == CUDA_SUCCESS) driver().mem_unmap(at, bytes_);
    driver().mem_address_free(at, bytes_);
    check(opened, mapped == CUDA_SUCCESS ? "cuMemSetAccess" : "cuMemMap");
  }
  address_ = reinterpret_cast<void*>(at);
}

MulticastObject::~MulticastObject() {
  close_descriptor();
  if (address_) {
    driver().mem_unmap(reinterpret_cast<CUdeviceptr>(address_), bytes_);
    driver().mem_address_free(reinterpret_cast<CUdeviceptr>(address_), bytes_);
  }
  CUdevice number = 0;
  if (bound_bytes_ && functions().device(&number, device_) == CUDA_SUCCESS)
    functions().unbind(handle_, number, 0, bound_bytes_);
  if (handle_) driver().mem_release(handle_);
}

void MulticastObject::close_descriptor() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace tide::gpu
