// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Multicast objects of emulated devices: a page that counts who has done what, so that a step out
// of order, and one that fails, are seen.  The address is one that faults (backend/multicast.hpp).
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "backend/cuda/gpu.hpp"
#include "core/error.hpp"

namespace tide::gpu {
namespace {

constexpr size_t step_bytes = size_t{64} << 10;  // as Memory's

struct Page {
  std::atomic<uint32_t> devices, added, bound;
};

Page& page(uint64_t handle) { return *reinterpret_cast<Page*>(handle); }

uint64_t map_page(int fd) {
  void* at = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) throw Error(Kind::device, "a multicast object: mmap: {}", strerror(errno));
  return reinterpret_cast<uint64_t>(at);
}

// TIDE_EMULATED_MULTICAST: none, or the step that fails on this rank.
bool fails(const char* step) {
  const char* asked = std::getenv("TIDE_EMULATED_MULTICAST");
  return asked && std::string(asked) == step;
}
void check(const char* step, bool in_order) {
  if (fails(step)) throw Error(Kind::device, "TIDE_EMULATED_MULTICAST: {} fails", step);
  if (!in_order) throw Error(Kind::device, "{}: before all ranks had come so far", step);
}

}  // namespace

bool multicast_supported(int) { return !fails("none"); }

size_t multicast_bytes(int, size_t bytes, size_t) {
  return (bytes + step_bytes - 1) / step_bytes * step_bytes;
}

std::unique_ptr<MulticastObject> MulticastObject::create(int device, size_t bytes, size_t devices) {
  check("create", bytes % step_bytes == 0);
  std::unique_ptr<MulticastObject> object(new MulticastObject);
  object->device_ = device;
  object->bytes_ = bytes;
  object->fd_ = memfd_create("tide-multicast", MFD_CLOEXEC);
  if (object->fd_ < 0 || ftruncate(object->fd_, sizeof(Page)) != 0)
    throw Error(Kind::no_mem, "a multicast object: {}", strerror(errno));
  object->handle_ = map_page(object->fd_);
  page(object->handle_).devices = static_cast<uint32_t>(devices);
  return object;
}

std::unique_ptr<MulticastObject> MulticastObject::attach(int device, size_t bytes, int fd) {
  std::unique_ptr<MulticastObject> object(new MulticastObject);
  object->fd_ = fd;
  check("attach", true);
  object->device_ = device;
  object->bytes_ = bytes;
  object->handle_ = map_page(fd);
  object->close_descriptor();
  return object;
}

void MulticastObject::add_device(int) {
  check("add", page(handle_).added < page(handle_).devices);
  page(handle_).added++;
}

void MulticastObject::bind(const Memory& memory, size_t bytes) {
  check("bind", page(handle_).added == page(handle_).devices && bytes <= bytes_ &&
                    bytes <= memory.mapped_bytes());
  bound_bytes_ = bytes;
  page(handle_).bound++;
}

void MulticastObject::map() {
  check("map", page(handle_).bound == page(handle_).devices);
  void* at = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw Error(Kind::no_mem, "a multicast address: {}", strerror(errno));
  address_ = at;
}

MulticastObject::~MulticastObject() {
  close_descriptor();
  if (address_) munmap(address_, bytes_);
  if (handle_) munmap(reinterpret_cast<void*>(handle_), sizeof(Page));
}

void MulticastObject::close_descriptor() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

// All sums through the addresses of emulated objects are taken apart before they come here.
std::shared_ptr<Program> Stream::switch_summing(const std::vector<Summing>&) {
  throw Error(Kind::intern, "an emulated device has no switch");
}

}  // namespace tide::gpu
