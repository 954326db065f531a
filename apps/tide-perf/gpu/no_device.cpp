// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include "gpu/device.hpp"
#include "gpu/in_process.hpp"

// A build without CUDA: the options are refused, so nobody comes to the rest.
namespace perf::gpu {

std::string not_built() {
  return "this Tide was built without CUDA; configure it with -DTIDE_WITH_CUDA=ON";
}
std::string not_built_for_kernels() { return not_built(); }

[[noreturn]] static void refuse() { throw std::invalid_argument(not_built()); }

int devices(std::string& why) {
  why = not_built();
  return 0;
}
void use(int) { refuse(); }
std::string name(int) { refuse(); }
std::string uuid(int) { refuse(); }
std::string versions() { refuse(); }
long long available_bytes() { refuse(); }
std::shared_ptr<char[]> allocate(std::size_t) { refuse(); }
void upload(void*, const void*, std::size_t) { refuse(); }
void download(void*, const void*, std::size_t) { refuse(); }
void fill(void*, int, std::size_t) { refuse(); }
Bytes mapped(int, std::int64_t) { refuse(); }
Contestant tide_in_process(std::vector<Workload>&, bool) { refuse(); }

}  // namespace perf::gpu
