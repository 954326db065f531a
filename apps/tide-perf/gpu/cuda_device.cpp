// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

#include "gpu/cuda.hpp"
#include "gpu/device.hpp"

namespace perf::gpu {
namespace {

// What `nvidia-smi` shows as the driver's version; CUDA itself does not tell it.
std::string driver_version() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "unknown";
  const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  const auto version =
      reinterpret_cast<int (*)(char*, unsigned)>(dlsym(library, "nvmlSystemGetDriverVersion"));
  char text[96] = "unknown";
  if (init == nullptr || version == nullptr || init() != 0 || version(text, sizeof text) != 0)
    return "unknown";
  return text;
}

std::string dotted(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// On a stream of its own: the default one may wait for others.
template <class Issue>
void complete(Issue issue, const char* call) {
  static const Stream stream;
  check(issue(stream), call);
  stream.synchronise();
}

}  // namespace

void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess)
    throw std::runtime_error(fmt::format("{}: {}", call, cudaGetErrorString(code)));
}

Stream::Stream() {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}
Stream::~Stream() { cudaStreamDestroy(stream_); }
void Stream::synchronise() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

std::string not_built() { return ""; }
std::string not_built_for_kernels() { return ""; }

int devices(std::string& why) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) return count;
  why = code == cudaSuccess ? "CUDA shows no device" : cudaGetErrorString(code);
  return 0;
}

void use(int device) {
  check(cudaSetDevice(device), "cudaSetDevice");
  check(cudaFree(nullptr), "cudaFree");  // makes the device's context
}

static cudaDeviceProp properties(int device) {
  cudaDeviceProp result;
  check(cudaGetDeviceProperties(&result, device), "cudaGetDeviceProperties");
  return result;
}

std::string name(int device) { return properties(device).name; }
std::string uuid(int device) {
  std::string text;
  for (const char byte : properties(device).uuid.bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string versions() {
  int runtime = 0, driver = 0;
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  return fmt::format("driver {}, CUDA {} (driver's {})", driver_version(), dotted(runtime),
                     dotted(driver));
}

long long available_bytes() {
  std::size_t free = 0, all = 0;
  return cudaMemGetInfo(&free, &all) == cudaSuccess ? static_cast<long long>(free) : -1;
}

// Whole pages of 2 MiB: a handle for other processes then names this memory and nothing else.
std::shared_ptr<char[]> allocate(std::size_t bytes) {
  constexpr std::size_t page = std::size_t{2} << 20;
  void* base = nullptr;
  check(cudaMalloc(&base, (bytes + page) / page * page), "cudaMalloc");
  return {static_cast<char*>(base), [](char* p) { cudaFree(p); }};
}

void upload(void* device, const void* host, std::size_t bytes) {
  complete(
      [=](cudaStream_t s) { return cudaMemcpyAsync(device, host, bytes, cudaMemcpyDefault, s); },
      "cudaMemcpyAsync");
}
void download(void* host, const void* device, std::size_t bytes) {
  complete(
      [=](cudaStream_t s) { return cudaMemcpyAsync(host, device, bytes, cudaMemcpyDefault, s); },
      "cudaMemcpyAsync");
}
void fill(void* device, int byte, std::size_t bytes) {
  complete([=](cudaStream_t s) { return cudaMemsetAsync(device, byte, bytes, s); },
           "cudaMemsetAsync");
}

}  // namespace perf::gpu
