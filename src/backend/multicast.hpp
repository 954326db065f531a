// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// One address behind which the same bytes of every local rank's memory stand: what is copied to it
// reaches all of them, and a switch adds what is loaded from it.  NVSwitches do that for memory
// that is bound to a multicast object (backend/cuda/multicast.cpp); tide_multicast = emulate does
// it for any memory, with addresses that nothing but behind() can be asked about.  Which pieces go
// this way is decided here, for both alike.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backend/host/kernels.hpp"

namespace tide {

struct Multicast {  // of one collective allocation on a node
  char* address = nullptr;
  size_t bytes = 0;               // of each local rank's memory, from its start
  std::vector<uint64_t> segment;  // each local rank's; a freed one's number never comes again
  std::vector<char*> member;      // where it is mapped here
  bool emulated = false;
  std::shared_ptr<const void> made;  // lets go of the address

  // The same bytes in local rank `h`'s memory.  Error{intern} where they are not all behind it.
  char* behind(const void* at, size_t bytes, int h) const;
};

// With an address that faults when it is touched.  Error{no_mem}.
std::shared_ptr<const Multicast> emulated_multicast(std::vector<char*> member,
                                                    std::vector<uint64_t> segment, size_t bytes);

// Where a rank's copy of a parameter lies in memory of Tide's; segment 0: elsewhere.
struct SegmentPlace {
  uint64_t segment;
  size_t offset;
};
// The offset of `bytes` at the local ranks' places, if they are the same of one allocation.
std::optional<size_t> common_offset(const Multicast& multicast,
                                    const std::vector<SegmentPlace>& places, size_t bytes);

struct MulticastPlace {           // of a parameter, or of a workspace
  const Multicast* of = nullptr;  // null: it has no such address
  size_t offset = 0;
  char* address() const { return of->address + offset; }
};

// What of a piece goes by multicast: from an address of 16 bytes, a multiple of 16 bytes.  What is
// before and behind that goes to, or comes from, each rank; all of it where the piece is so small
// that those extra copies would cost more than multicast saves.
struct MulticastCut {
  size_t head, middle;  // bytes
};
MulticastCut multicast_cut(const void* at, size_t bytes, size_t elem_bytes = 1);

// May a switch add these?  It adds fp32 in fp32, and 16-bit types in fp32 with a result of 16 bits
// again: which is for sums that are stored as such, not for partials.
bool switch_adds(Dtype in, Dtype acc, Dtype out, bool final);

}  // namespace tide
