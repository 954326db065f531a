// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Addresses of any content in the table that a peer of the node publishes.  What a reader makes of
// them lies inside memory that the peer gave.
#include <mpi.h>

#include <vector>

#include "core/address_table.hpp"
#include "mpix_tide.h"
#include "simulated.hpp"

using namespace fuzz;
using namespace tide;

namespace {

struct Forged {  // as AddressTable::Entry lies in memory
  uint64_t address, segment, offset, flags;
};

struct Shared {
  std::vector<Forged> entries;
  std::vector<size_t> bytes;
  std::vector<uint8_t> which;  // of the segments that the reader knows; or as it stands
  bool written = false, read = false;
};

Shared shared_from(Input& in) {
  Shared s;
  do {
    const auto how = in.take<uint8_t>();
    Forged e{in.take<uint16_t>(), static_cast<uint64_t>(in.count()),
             static_cast<uint64_t>(in.count()), how & 3u};
    s.entries.push_back(e);
    s.bytes.push_back(how & 4 ? in.below(200) : 4096);
    s.which.push_back(how >> 4);
  } while (in.left() && s.entries.size() < 12);
  return s;
}

void publish(Context& context, const std::vector<std::shared_ptr<Segment>>& segments,
             const std::vector<void*>& bases, Shared& s) {
  auto* table = static_cast<Forged*>(segments[1]->base());
  for (size_t i = 0; i < s.entries.size(); i++) {
    Forged& entry = s.entries[i];
    if (s.which[i] < bases.size())
      if (const auto found = context.process().memory.find(bases[s.which[i]], 1))
        entry.segment = found->segment;
    table[i] = entry;
  }
  s.written = true;
  while (!s.read) sleep_us(10);
}

void read(Context& context, AddressTable& table, Shared& s) {
  const std::vector<const void*> none(s.entries.size());
  table.publish(none.data(), s.bytes);
  while (!s.written) sleep_us(10);
  table.read(1, 1);
  for (size_t i = 0; i < s.entries.size(); i++) {
    const Pointer& at = table.of(1)[i];
    require(at.there == s.entries[i].address, "the kernel gets the address as it is");
    if (!at.here) continue;
    volatile unsigned char* bytes = static_cast<unsigned char*>(at.here);
    size_t size = 0;
    const void* base = context.process().memory.base_of(s.entries[i].segment, &size);
    const auto offset = reinterpret_cast<uintptr_t>(bytes) - reinterpret_cast<uintptr_t>(base);
    require(base && offset <= size && s.bytes[i] <= size - offset, "inside of its segment");
    // Every byte is memory of ours: an address sanitizer, or the kernel, says if not.
    for (size_t k = 0; k < s.bytes[i]; k++) bytes[k] = static_cast<unsigned char>(bytes[k] + 1);
  }
  int local = -1;
  const int64_t entry = table.partly_shared(local);
  require(entry < static_cast<int64_t>(s.entries.size()), "an entry that there is");
  s.read = true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input in(data, bytes);
  Shared shared = shared_from(in);
  run_ranks(2, [&](int r) {
    std::vector<void*> bases(2);
    for (void*& base : bases)
      MPIX_Tide_alloc(MPI_COMM_WORLD, 5000, MPI_INFO_NULL, static_cast<void*>(&base));
    {
      const auto context = Context::of(MPI_COMM_WORLD, 0);
      const Context::Setup setup(*context, 0, SetupCall::group_create);
      const auto segments = AddressTable::share_tables(*context, shared.entries.size());
      AddressTable table(*context, segments, 0, shared.entries.size());
      r ? publish(*context, segments, bases, shared) : read(*context, table, shared);
      context->barrier();
    }
    for (void* base : bases) MPIX_Tide_free(MPI_COMM_WORLD, base);
  });
  return 0;
}
