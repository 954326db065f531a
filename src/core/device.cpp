// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The device of a communicator.
#include <charconv>

#include "backend/cuda/backend.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/settings.hpp"

namespace tide {

int Context::device(const std::string& asked) {
  if (asked.empty() && device_ >= 0) return device_;
  std::string why;
  const int count = gpu::devices(&why);
  if (count == 0)
    throw Error(Kind::unsupported, "no device: {}; use host memory, or run where a GPU is", why);
  int device = 0;
  if (asked.empty()) {
    device = gpu::current();
  } else {
    const auto [end, code] = std::from_chars(asked.data(), asked.data() + asked.size(), device);
    if (code != std::errc() || end != asked.data() + asked.size() || device < 0 || device >= count)
      throw Error(Kind::arg, "tide_device = {}: not a device; this process has 0 to {}", asked,
                  count - 1);
  }
  if (device_ >= 0 && device_ != device)
    throw Error(Kind::arg, "tide_device = {}: the communicator uses device {} already", asked,
                device_);
  return device_ = device;
}

bool Context::adopt_device(int device) {
  if (device_ < 0) device_ = device;
  return device_ == device;
}

Backend& Context::device_backend(const WorkspaceSet& workspace) {
  const int device = this->device("");
  if (!device_backend_) device_backend_ = std::make_unique<CudaBackend>(node_lines_, device);
  if (workspace.pinned.empty()) {
    const gpu::Use use(device);
    for (const auto& segment : workspace.of)
      if (segment && segment->bytes())
        workspace.pinned.push_back(gpu::pin(segment->base(), segment->bytes()));
  }
  return *device_backend_;
}

}  // namespace tide
