// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory that the processes of a node address directly: nameless (memfd), its descriptor sent over a socket, closed after all
// have attached, so that nothing is left behind after SIGKILL and no other user can open it.  A segment is known by a random
// number, never by its address: a freed and reallocated address is another segment.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tide {

using SegmentId = uint64_t;  // random; 0: none

// One mapping of a segment in this process.  Unmaps when the last holder lets go.
class Segment {
 public:
  // New, zeroed, every page present (posix_fallocate: a lack of memory is Error{no_mem} here, not SIGBUS later) and mapped.
  static std::shared_ptr<Segment> create(size_t bytes);
  // Maps what a peer sent; takes the descriptor over.  Checks the size and the seals before use.
  static std::shared_ptr<Segment> attach(SegmentId id, size_t bytes, int fd);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  SegmentId id() const { return id_; }
  void* base() const { return base_; }
  size_t bytes() const { return bytes_; }
  int descriptor() const { return fd_; }  // -1 once closed
  void close_descriptor();

 private:
  Segment() = default;
  SegmentId id_ = 0;
  void* base_ = nullptr;
  size_t bytes_ = 0;
  int fd_ = -1;
};

// Where a peer's descriptors are received: an abstract (file-less) datagram socket with a random name.
struct MailAddress { char name[32]; };  // plain bytes, to be exchanged over MPI

class Mailbox {  // one per process; thread-safe
 public:
  Mailbox();
  ~Mailbox();
  const MailAddress& address() const { return address_; }
  // Every member sends its segment (or null: nothing to send) to every other and receives theirs; member `me` is this process.
  // `ticket` names this exchange (equal on all members, never reused).  has[i]: member i sends one.  Result: a mapping per
  // member, own one included, null where it sends none.  A sender's uid is checked by the kernel's credentials, its number,
  // size and seals before use.  Error{peer} when one does not come within timeout_s.
  std::vector<std::shared_ptr<Segment>> exchange(uint64_t ticket, int me, const std::vector<MailAddress>& members,
                                                 const std::vector<bool>& has, std::shared_ptr<Segment> mine, double timeout_s);

 private:
  struct Letter;
  struct State;
  std::unique_ptr<State> state_;
  MailAddress address_{};
};

// What MPIX_Tide_alloc handed out in this process and what peers' segments are attached.  Thread-safe.
class MemoryRegistry {
 public:
  struct Found { SegmentId segment; size_t offset; };
  // Memory that the user may pass: [segment base, + bytes).  owner: its free is announced to peers.
  void add(std::shared_ptr<Segment> segment, bool announce_free);
  void attach(std::shared_ptr<Segment> peers);     // a peer's memory
  // The user's free.  False: not the start of such memory.  Bumps epoch(); an announced segment also bumps freed_epoch() after
  // it is marked as freed in its shared header, which tells the peers to drop their mapping.
  bool remove(void* base);
  std::optional<Found> find(const void* address, size_t bytes) const;  // whole range inside one live segment
  void* base_of(SegmentId) const;                  // mapping of own or attached segment; null: unknown here
  uint64_t epoch() const;                          // changes whenever find() may answer differently
  uint64_t freed_epoch() const;                    // peers compare this and call drop_freed() when it moved
  void drop_freed();                               // unmaps attached segments whose owner freed them; bumps epoch()
  size_t live() const;
  void clear();

 private:
  struct State;
  std::shared_ptr<State> state_;
 public:
  MemoryRegistry();
};

uint64_t random_number();  // from getrandom; never 0

}  // namespace tide
