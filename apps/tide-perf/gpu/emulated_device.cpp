// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <cstring>

#include "gpu/device.hpp"
#include "memory.hpp"

// The library's emulated devices are host memory.
namespace perf::gpu {

std::string not_built() { return ""; }
std::string not_built_for_kernels() {
  return "this Tide emulates its devices; configure it with -DTIDE_WITH_CUDA=ON";
}

int devices(std::string& why) {
  const char* asked = std::getenv("TIDE_EMULATED_DEVICES");
  const int count = asked != nullptr && *asked != '\0' ? std::atoi(asked) : 1;
  if (count <= 0) why = "TIDE_EMULATED_DEVICES is 0";
  return count > 0 ? count : 0;
}
void use(int) {}  // the library is told by tide_device
std::string name(int) { return "emulated device"; }
std::string uuid(int device) { return std::to_string(device); }
std::string versions() { return "emulated, no CUDA"; }
long long available_bytes() { return perf::available_bytes(); }
std::shared_ptr<char[]> allocate(std::size_t bytes) {
  return make_bytes(static_cast<std::int64_t>(bytes));
}
void upload(void* device, const void* host, std::size_t bytes) { std::memcpy(device, host, bytes); }
void download(void* host, const void* device, std::size_t bytes) {
  std::memcpy(host, device, bytes);
}
void fill(void* device, int byte, std::size_t bytes) { std::memset(device, byte, bytes); }

}  // namespace perf::gpu
