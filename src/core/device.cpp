// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The device of a communicator.
#include <charconv>

#include "backend/cuda/backend.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/settings.hpp"

namespace tide {

static int number_of(const std::string& asked, int count) {
  int device = 0;
  const auto [end, code] = std::from_chars(asked.data(), asked.data() + asked.size(), device);
  if (code != std::errc() || end != asked.data() + asked.size() || device < 0 || device >= count)
    throw Error(Kind::arg, "tide_device = {}: not a device; this process has 0 to {}", asked,
                count - 1);
  return device;
}

void Context::want_device(const std::string& asked) {
  if (device_ >= 0 && !asked.empty() && asked != std::to_string(device_))
    throw Error(Kind::arg, "tide_device = {}: the communicator uses device {} already", asked,
                device_);
  if (!asked.empty()) wanted_device_ = asked;
}

int Context::likely_device() const {
  if (device_ >= 0) return device_;
  std::string why;
  const int count = gpu::devices(&why);
  if (count == 0)
    throw Error(Kind::unsupported, "no device: {}; use host memory, or run where a GPU is", why);
  if (!wanted_device_.empty()) return number_of(wanted_device_, count);
  return default_device_ < 0 ? gpu::current() : default_device_;
}

int Context::device() { return device_ = likely_device(); }

bool Context::adopt_device(int device) {
  if (device_ < 0 && (wanted_device_.empty() || wanted_device_ == std::to_string(device)))
    device_ = device;
  return device_ == device;
}

Backend& Context::device_backend(const WorkspaceSet& workspace) {
  const int device = this->device();
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
