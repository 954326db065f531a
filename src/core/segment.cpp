// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/memory_file.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace tide {
namespace {

constexpr uint64_t kMagic = 0x5449444553454731;  // "TIDESEG1"

// At the start of the file; the user's bytes begin at its second page.
struct SegmentHeader {
  uint64_t magic;
  SegmentId id;
  uint64_t bytes;
  uint64_t device_bytes;  // 0: the bytes follow this page
  std::atomic<uint32_t> freed;
  uint32_t multicast = 0;  // 1: of those bytes of device memory it is a multicast object
};
static_assert(std::atomic<uint32_t>::is_always_lock_free, "shared between processes");

// A page's first touch costs 15-19 us on some machines: here, not in the user's first call.
void touch(void* base, size_t bytes) {
  int code;
  do code = madvise(base, bytes, MADV_POPULATE_WRITE);
  while (code != 0 && (errno == EINTR || errno == EAGAIN));
  if (code == 0) return;
  if (errno != EINVAL)  // EINVAL: a kernel before 5.14
    throw Error(Kind::no_mem, "shared memory of {} bytes: pre-faulting: {}", bytes,
                strerror(errno));
  for (size_t at = 0; at < bytes; at += page_bytes())
    static_cast<volatile unsigned char*>(base)[at] = 0;
}

}  // namespace

uint64_t random_number() {
  uint64_t number = 0;
  while (number == 0) {
    const ssize_t got = getrandom(&number, sizeof number, 0);
    if (got < 0 && errno != EINTR)
      throw Error(Kind::other, "getrandom failed: {}", strerror(errno));
    if (got != static_cast<ssize_t>(sizeof number)) number = 0;
  }
  return number;
}

std::shared_ptr<Segment> Segment::create(size_t bytes) {
  const size_t file_bytes = segment_file_bytes(bytes);
  check_room(file_bytes);
  std::shared_ptr<Segment> segment(new Segment);  // owns what is opened from here on
  segment->fd_ = open_nameless();
  segment->id_ = random_number();
  segment->bytes_ = bytes;
  segment->map(file_bytes, MAP_SHARED);  // address space first: it fails at no cost
  allocate_file(segment->fd_, file_bytes);
  seal_file(segment->fd_);
  touch(segment->map_, file_bytes);
  new (segment->map_) SegmentHeader{kMagic, segment->id_, bytes, 0, {0}};
  return segment;
}

std::shared_ptr<Segment> Segment::create_on(int device, size_t bytes) {
  std::shared_ptr<Segment> segment = create(0);
  segment->bytes_ = bytes;
  segment->device_memory_ = gpu::Memory::create(device, bytes);
  segment->device_ = device;
  segment->base_ = segment->device_memory_->address();
  auto* header = static_cast<SegmentHeader*>(segment->map_);
  header->bytes = bytes;
  header->device_bytes = segment->device_memory_->mapped_bytes();
  return segment;
}

#if TIDE_HAVE_MULTICAST
std::shared_ptr<Segment> Segment::create_multicast(int device, size_t bytes, size_t devices) {
  std::shared_ptr<Segment> segment = create(0);
  segment->bytes_ = bytes;
  segment->multicast_ = gpu::MulticastObject::create(device, bytes, devices);
  segment->device_ = device;
  segment->base_ = nullptr;
  auto* header = static_cast<SegmentHeader*>(segment->map_);
  header->bytes = header->device_bytes = bytes;
  header->multicast = 1;
  return segment;
}
#endif

int Segment::device_descriptor() const {
#if TIDE_HAVE_MULTICAST
  if (multicast_) return multicast_->descriptor();
#endif
  return device_memory_ ? device_memory_->descriptor() : -1;
}

std::shared_ptr<Segment> Segment::attach(SegmentId id, size_t bytes, int fd, int device_fd,
                                         int device) {
  struct Closing {
    int fd;
    ~Closing() {
      if (fd >= 0) close(fd);
    }
  } closing{device_fd};
  std::shared_ptr<Segment> segment(new Segment);
  segment->fd_ = fd;
  segment->id_ = id;
  segment->bytes_ = bytes;
  if (bytes > static_cast<size_t>(INT64_MAX) - 2 * page_bytes())
    throw Error(Kind::peer, "a peer's memory is announced with {} bytes", bytes);
  const size_t file_bytes = segment_file_bytes(device_fd < 0 ? bytes : 0);
  check_file(fd, file_bytes);
  segment->map(file_bytes, MAP_SHARED | MAP_POPULATE);
  const auto* header = static_cast<const SegmentHeader*>(segment->map_);
  if (header->magic != kMagic || header->id != id || header->bytes != bytes || id == 0)
    throw Error(Kind::peer, "a peer's memory is not the segment {:016x} of {} bytes", id, bytes);
  const uint64_t device_bytes = header->device_bytes;
  if ((device_bytes != 0) != (device_fd >= 0) || device_bytes > INT64_MAX / 2 ||
      (device_bytes != 0 && device_bytes < bytes))
    throw Error(Kind::peer, "a peer's device memory {:016x} is not what its header says", id);
#if TIDE_HAVE_MULTICAST
  if (device_fd >= 0 && header->multicast) {
    segment->multicast_ =
        gpu::MulticastObject::attach(device, device_bytes, std::exchange(closing.fd, -1));
    segment->device_ = device;
    segment->base_ = nullptr;
    return segment;
  }
#endif
  if (device_fd >= 0) {
    segment->device_memory_ =
        gpu::Memory::attach(device, device_bytes, std::exchange(closing.fd, -1));
    segment->device_ = device;
    segment->base_ = segment->device_memory_->address();
  }
  return segment;
}

void Segment::map(size_t file_bytes, int flags) {
  void* at = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, flags, fd_, 0);
  if (at == MAP_FAILED)
    throw Error(Kind::no_mem, "shared memory of {} bytes: mmap: {}; look at RLIMIT_AS (ulimit -v)",
                file_bytes, strerror(errno));
  map_ = at;
  map_bytes_ = file_bytes;
  base_ = static_cast<unsigned char*>(at) + page_bytes();
  creator_ = getpid();
}

Segment::~Segment() {
  // In a forked child too: the descriptor and the mapping are its own copies.
  close_descriptor();
  if (map_ != nullptr) munmap(map_, map_bytes_);
}

void Segment::close_descriptor() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  if (device_memory_) device_memory_->close_descriptor();
#if TIDE_HAVE_MULTICAST
  if (multicast_) multicast_->close_descriptor();
#endif
}

void Segment::mark_freed() {
  if (getpid() != creator_) return;
  static_cast<SegmentHeader*>(map_)->freed.store(1, std::memory_order_release);
}

bool Segment::freed() const {
  return static_cast<const SegmentHeader*>(map_)->freed.load(std::memory_order_acquire) != 0;
}

}  // namespace tide
