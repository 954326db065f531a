// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a peer says about its addresses is checked: the last rank rewrites its own published table,
// in which an entry is {address, segment, offset, flags}, so that an offset points out of its
// memory.  Nobody may follow it.  (The result is exact all the same where the kernel copies.)
#include <cstdio>
#include <cstring>

#include "list.hpp"

namespace tide_test {
namespace {

struct Entry {
  uint64_t address, segment, offset, flags;
};

// The entry of this address in a table of this process's, found by what it must hold.
Entry* entry_of(const void* address, const void* base) {
  const auto wanted = reinterpret_cast<uint64_t>(address),
             offset = wanted - reinterpret_cast<uint64_t>(base);
  FILE* maps = std::fopen("/proc/self/maps", "r");
  Entry* found = nullptr;
  char line[512];
  while (std::fgets(line, sizeof line, maps)) {
    unsigned long from = 0, to = 0;
    if (!std::strstr(line, "memfd:tide") || std::sscanf(line, "%lx-%lx", &from, &to) != 2) continue;
    for (unsigned long at = from; at + sizeof(Entry) <= to; at += sizeof(uint64_t)) {
      auto* entry = reinterpret_cast<Entry*>(at);
      if (entry->address == wanted && entry->offset == offset && entry->flags & 1) found = entry;
    }
  }
  std::fclose(maps);
  return found;
}

void offsets_are_checked(bool reduce) {
  const Team& team = world();
  List list(team, {param(513, 65), param(7, 3)});
  Pieces full(team, Memory::tide, list.full_bytes());
  Pieces part(team, Memory::tide, reduce ? list.out_bytes(0) : list.shard_bytes());
  const auto call = [&](const char* what) {
    if (reduce) {
      write_grads(list, full.list(), {});
      TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(full.list()), part.list(), 0, MPIX_TIDE_SUM,
                                       1, list.group()));
      expect_reduced(list, part.list(), {}, what);
    } else {
      write_shards(list, part.list(), 3);
      full.fill(0xFF);
      TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(part.list()), full.list(), list.group()));
      expect_gathered(list, full.list(), 3, what);
    }
    full.expect_margins(what);
  };
  call("before");
  const bool forger = team.rank == team.size - 1;
  Entry* entry = forger ? entry_of(full[0], full.base()) : nullptr;
  ASSERT_EQ(forger, entry != nullptr) << "the table was not found: this shows nothing";
  const uint64_t true_offset = forger ? entry->offset : 0;
  const uint64_t beyond[] = {uint64_t{1} << 40, uint64_t{0} - 4096, uint64_t{1} << 63};
  for (const uint64_t offset : beyond) {
    SCOPED_TRACE("offset " + std::to_string(offset));
    if (forger) entry->offset = offset;
    void* base = nullptr;
    if (!forger) TIDE_OK(MPIX_Tide_alloc(MPI_COMM_SELF, 1, MPI_INFO_NULL, &base));
    call("with a forged offset");
    if (!forger) TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
  }
  if (forger) entry->offset = true_offset;
  call("after");
}

TEST(Forged, GradientBeyondItsMemoryIsNotRead) { offsets_are_checked(true); }
TEST(Forged, ParameterBeyondItsMemoryIsNotWritten) { offsets_are_checked(false); }

}  // namespace
}  // namespace tide_test
