// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a node learn each other's addresses: each publishes a table in shared memory
// (address, and, where it lies in Tide memory, segment and offset) and a generation number in its
// entry line.  A reader that has seen the generation does nothing; otherwise it looks the segments
// up among what this process maps.
#pragma once
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "core/context.hpp"

namespace tide {

class AddressTable {
 public:
  // Collective over the context: a segment of each local rank with room for this many entries.
  static std::vector<std::shared_ptr<Segment>> share_tables(Context& context, size_t entries);
  // Of `entries` entries from entry `first` on of each local rank's segment (share_tables).
  AddressTable(Context& context, const std::vector<std::shared_ptr<Segment>>& segments,
               size_t first, size_t entries);
  // Mine: addresses[i] with bytes[i] (0: never touched).  Cheap when neither the list nor the
  // process's memory has changed.
  void publish(const void* const* addresses, const std::vector<size_t>& bytes);
  uint64_t generation() const { return generation_; }
  bool foreign() const { return foreign_; }         // some address is not mapped by all local ranks
  int64_t shared_entry() const { return shared_; }  // first entry in node-shared memory, or -1
  // A peer's table, once its entry line is seen.  True if anything may have changed.
  bool read(int local, uint64_t generation);
  const std::vector<Pointer>& of(int local) const { return pointers_[static_cast<size_t>(local)]; }
  // Entry where node-shared storage is not the same range on all local ranks; local: who differs.
  // -1: none.
  int64_t partly_shared(int& local) const;
  // Of each entry: where all local ranks' addresses are one of tide_multicast.  Empty: nowhere.
  struct Place {
    std::weak_ptr<const Multicast> of;
    size_t offset = 0;
  };
  std::vector<Place> multicast() const;

 private:
  struct Entry {
    uint64_t address, segment, offset;
    uint64_t reached : 1, shared : 1;  // mapped by all local ranks; node-shared memory
  };
  const Entry* entries(int local) const;
  Context& context_;
  size_t first_, count_;
  std::vector<std::shared_ptr<Segment>> segments_;
  std::vector<const void*> last_;
  std::vector<size_t> bytes_;  // of each entry, equal on all ranks
  uint64_t generation_ = 0, epoch_ = ~uint64_t{0};
  bool foreign_ = false;
  int64_t shared_ = -1;
  std::vector<std::vector<Pointer>> pointers_;
  std::vector<uint64_t> seen_generation_, seen_epoch_;
};

}  // namespace tide
