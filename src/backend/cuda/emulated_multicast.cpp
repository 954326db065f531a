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
#include <map>
#include <mutex>
#include <string>

#include "backend/cuda/emulated.hpp"
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

struct Behind {
  size_t bytes;
  std::vector<char*> members;
};
struct Switches {
  std::mutex mutex;
  std::map<char*, Behind> all;  // by address
};
Switches& switches() {
  static Switches* known = new Switches;  // outlives what static destructors free
  return *known;
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

void MulticastObject::map(const std::vector<char*>& members) {
  check("map", page(handle_).bound == page(handle_).devices);
  void* at = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw Error(Kind::no_mem, "a multicast address: {}", strerror(errno));
  address_ = at;
  const std::lock_guard lock(switches().mutex);
  switches().all[static_cast<char*>(at)] = {bound_bytes_, members};
}

std::vector<char*> behind_switch(const void* at, size_t bytes) {
  const std::lock_guard lock(switches().mutex);
  auto next = switches().all.upper_bound(static_cast<char*>(const_cast<void*>(at)));
  if (next == switches().all.begin()) return {};
  const auto& [begin, object] = *--next;
  const size_t offset = static_cast<size_t>(static_cast<const char*>(at) - begin);
  if (offset >= object.bytes) return {};
  if (offset % 16 || bytes % 16 || bytes > object.bytes - offset)
    throw Error(Kind::device, "{} bytes at {} of a multicast object: misaligned, or beyond it",
                bytes, offset);
  std::vector<char*> all;
  for (char* member : object.members) all.push_back(member + offset);
  return all;
}

MulticastObject::~MulticastObject() {
  close_descriptor();
  if (address_) {
    const std::lock_guard lock(switches().mutex);
    switches().all.erase(static_cast<char*>(address_));
    munmap(address_, bytes_);
  }
  if (handle_) munmap(reinterpret_cast<void*>(handle_), sizeof(Page));
}

void MulticastObject::close_descriptor() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace tide::gpu
