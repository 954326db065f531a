// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory that the processes of a node address directly: nameless (memfd), its descriptor sent over
// a socket, closed after all have attached, so that nothing is left behind after SIGKILL and no
// other user can open it.  A segment is known by a random number, never by its address: a freed and
// reallocated address is another segment.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backend/cuda/gpu.hpp"

namespace tide {

using SegmentId = uint64_t;  // random; 0: none

// One mapping of a segment in this process.  Unmaps when the last holder lets go.
class Segment {
 public:
  // New, zeroed, every page present (posix_fallocate: a lack of memory is Error{no_mem} here, not
  // SIGBUS later) and mapped.  Zero bytes give a page of their own, so that the base is unique.
  static std::shared_ptr<Segment> create(size_t bytes);
  // Device memory, zeroed.  A page of host memory that goes with it is its header.
  static std::shared_ptr<Segment> create_on(int device, size_t bytes);
#if TIDE_HAVE_MULTICAST
  // A page that brings a multicast object to the node's ranks.  It has no base.
  static std::shared_ptr<Segment> create_multicast(int device, size_t bytes, size_t devices);
  gpu::MulticastObject& multicast() const { return *multicast_; }
#endif
  // Maps what a peer sent; takes the descriptors over, also when it throws: Error{peer} where the
  // file is not what was announced, Error{no_mem} where the mapping fails.  device_fd: of device
  // memory, mapped for `device`; -1: none.
  static std::shared_ptr<Segment> attach(SegmentId id, size_t bytes, int fd, int device_fd = -1,
                                         int device = -1);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  SegmentId id() const { return id_; }
  void* base() const { return base_; }  // page aligned
  bool on_device() const { return device_memory_ != nullptr; }
  int device() const { return device_; }  // for whose use it is mapped; -1: host memory
  const gpu::Memory& device_memory() const { return *device_memory_; }
  int device_descriptor() const;
  size_t bytes() const { return bytes_; }
  int descriptor() const { return fd_; }  // -1 once closed
  void close_descriptor();
  // exchange() closes the owner's descriptor once it is sent, unless this was called: for a segment
  // that goes through more than one exchange.
  void keep_descriptor() { keep_descriptor_ = true; }
  bool keeps_descriptor() const { return keep_descriptor_; }
  // The mark in the shared header that tells every process that the owner freed it.  mark_freed()
  // does nothing in a forked child.
  void mark_freed();
  bool freed() const;

 private:
  Segment() = default;
  void map(size_t file_bytes, int flags);  // sets map_, map_bytes_, base_
  SegmentId id_ = 0;
  void* base_ = nullptr;
  size_t bytes_ = 0;
  int fd_ = -1;
  void* map_ = nullptr;  // the hidden header page, then the user's bytes
  size_t map_bytes_ = 0;
  pid_t creator_ = 0;
  bool keep_descriptor_ = false;
  std::unique_ptr<gpu::Memory> device_memory_;
#if TIDE_HAVE_MULTICAST
  std::unique_ptr<gpu::MulticastObject> multicast_;
#endif
  int device_ = -1;
};

// Where a peer's descriptors are received: an abstract (file-less) datagram socket with a random
// name.  Plain bytes, to be exchanged over MPI: a NUL and 31 characters.
struct MailAddress {
  char name[32];
};

class Mailbox {  // one per process; thread-safe
 public:
  Mailbox();
  ~Mailbox();
  const MailAddress& address() const { return address_; }
  // Every member sends its segment (or null: nothing to send) to every other and receives theirs;
  // member `me` is this process.  `ticket` names this exchange (equal on all members, never
  // reused).  has[i]: member i sends one.  Result: a mapping per member, own one included, null
  // where it sends none.  A sender's uid is checked by the kernel's credentials, its number, size
  // and seals before use.  Error{peer} when one does not come within timeout_s (0: waits forever)
  // or cannot be reached, Error{no_mem} without descriptors or address space; all others have been
  // sent to and heard before that.  `idle` runs about every millisecond while waiting: MPI progress
  // for a member that is still inside the collective that brought the addresses.  device: for whose
  // use device memory is mapped; -1: none is expected.
  std::vector<std::shared_ptr<Segment>> exchange(uint64_t ticket, int me,
                                                 const std::vector<MailAddress>& members,
                                                 const std::vector<bool>& has,
                                                 std::shared_ptr<Segment> mine, double timeout_s,
                                                 const std::function<void()>& idle = {},
                                                 int device = -1);
  // No exchange of this ticket will be made here: letters of it, which would keep their senders'
  // memory alive, are dropped, now and later.  For a member that fails before it gets there.
  void forget(uint64_t ticket);

 private:
  struct State;
  struct Exchange;
  std::unique_ptr<State> state_;
  MailAddress address_{};
};

// What MPIX_Tide_alloc handed out in this process and what peers' segments are attached.
// Thread-safe; copies share one content.
class MemoryRegistry {
 public:
  struct Found {
    SegmentId segment;
    size_t offset;
  };
  MemoryRegistry();
  // Memory that the user may pass: [segment base, + bytes).  announce_free: its free is told to
  // the peers.  Memory shared by a node: its leader creates it, every member calls add(it, false).
  void add(std::shared_ptr<Segment> segment, bool announce_free);
  void attach(std::shared_ptr<Segment> peers);  // a peer's memory
  // The user's free.  False: not the start of such memory.  Bumps epoch(); an announced segment
  // also bumps freed_epoch() after it is marked as freed in its shared header, which tells the
  // peers to drop their mapping.
  bool remove(void* base);
  // The whole range inside one live segment of add().  An empty range may begin at its end.
  std::optional<Found> find(const void* address, size_t bytes) const;
  // Own or attached mapping, and how long it is; null: unknown here.
  void* base_of(SegmentId segment, size_t* bytes = nullptr) const;
  uint64_t epoch() const;        // changes whenever find() may answer differently
  uint64_t freed_epoch() const;  // peers compare this and call drop_freed() when it moved
  void drop_freed();  // lets go of attached segments whose owner freed them; bumps epoch() if any
  // Keeps these mapped as long as the result lives, whoever frees them; unknown ones are left out.
  // The user's free of own memory takes effect, here and for the peers, when the last hold goes.
  std::vector<std::shared_ptr<Segment>> hold(const std::vector<SegmentId>& segments) const;
  size_t live() const;
  void clear();  // frees everything, as remove() would, and lets go of what is attached

 private:
  struct State;
  struct Hold;
  std::shared_ptr<State> state_;
};

uint64_t random_number();  // from getrandom; never 0

}  // namespace tide
