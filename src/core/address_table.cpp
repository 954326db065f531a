// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/address_table.hpp"

#include <cstring>

namespace tide {

std::vector<std::shared_ptr<Segment>> AddressTable::share_tables(Context& context, size_t entries) {
  const size_t locals = static_cast<size_t>(context.topology().size(context.node()));
  std::shared_ptr<Segment> mine;
  std::vector<std::shared_ptr<Segment>> all;
  context.together([&] {
    if (entries) mine = Segment::create(entries * sizeof(Entry));
  });
  context.together([&] {
    all = context.share(mine, std::vector<bool>(locals, entries > 0));
    for (const auto& segment : all)
      if (segment && segment->bytes() != entries * sizeof(Entry))
        throw Error(Kind::peer, "a peer's table of addresses has {} bytes instead of {}",
                    segment->bytes(), entries * sizeof(Entry));
  });
  return all;
}

AddressTable::AddressTable(Context& context, const std::vector<std::shared_ptr<Segment>>& segments,
                           size_t first, size_t entries)
    : context_(context), first_(first), count_(entries), segments_(segments) {
  pointers_.assign(segments.size(), std::vector<Pointer>(entries));
  seen_generation_.assign(segments.size(), 0);
  seen_epoch_.assign(segments.size(), ~uint64_t{0});
  last_.assign(entries, nullptr);
  bytes_.assign(entries, 0);
}

const AddressTable::Entry* AddressTable::entries(int local) const {
  const auto& segment = segments_[static_cast<size_t>(local)];
  return segment ? static_cast<const Entry*>(segment->base()) + first_ : nullptr;
}

void AddressTable::publish(const void* const* addresses, const std::vector<size_t>& bytes) {
  Process& process = context_.process();
  const uint64_t epoch = process.memory.epoch();
  if (generation_ && epoch == epoch_ && std::equal(last_.begin(), last_.end(), addresses)) return;
  const std::vector<uint64_t> members = context_.node_processes();
  const int me = context_.topology().local(context_.rank());
  auto* mine = const_cast<Entry*>(entries(me));
  bool changed = generation_ == 0;
  bytes_ = bytes;
  foreign_ = false;
  shared_ = -1;
  SegmentId last_segment = 0;
  bool last_reached = false, last_shared = false;
  for (size_t i = 0; i < count_; i++) {
    Entry entry{};
    if (bytes[i] && addresses[i]) {
      entry.address = reinterpret_cast<uint64_t>(addresses[i]);
      if (const auto found = process.memory.find(addresses[i], bytes[i])) {
        if (found->segment != last_segment) {
          last_segment = found->segment;
          last_shared = false;
          last_reached = process.reaches(found->segment, members, last_shared);
        }
        entry.segment = found->segment;
        entry.offset = found->offset;
        entry.reached = last_reached;
        entry.shared = last_shared;
        if (last_shared && shared_ < 0) shared_ = static_cast<int64_t>(i);
      }
      foreign_ |= !entry.reached && members.size() > 1;
    }
    changed |= std::memcmp(&mine[i], &entry, sizeof entry) != 0;
    mine[i] = entry;
    pointers_[static_cast<size_t>(me)][i] = {
        const_cast<void*>(entry.address ? addresses[i] : nullptr), entry.address};
    last_[i] = addresses[i];
  }
  epoch_ = epoch;
  if (changed) generation_++;
}

bool AddressTable::read(int local, uint64_t generation) {
  const MemoryRegistry& memory = context_.process().memory;
  const size_t l = static_cast<size_t>(local);
  const uint64_t epoch = memory.epoch();
  if (local == context_.topology().local(context_.rank())) return false;
  if (seen_generation_[l] == generation && seen_epoch_[l] == epoch) return false;
  const Entry* table = entries(local);
  SegmentId last_segment = 0;
  char* base = nullptr;
  size_t size = 0;
  for (size_t i = 0; i < count_; i++) {
    const Entry entry = table[i];
    if (entry.reached && entry.segment != last_segment)
      base = static_cast<char*>(memory.base_of(last_segment = entry.segment, &size));
    // What a peer says is not followed beyond its own memory: the kernel then copies, or refuses.
    const bool inside = entry.offset <= size && bytes_[i] <= size - entry.offset;
    pointers_[l][i] = {entry.reached && base && inside ? base + entry.offset : nullptr,
                       entry.address};
  }
  seen_generation_[l] = generation;
  seen_epoch_[l] = epoch;
  return true;
}

std::vector<AddressTable::Place> AddressTable::multicast() const {
  std::vector<Place> all(count_);
  const auto me = static_cast<size_t>(context_.topology().local(context_.rank()));
  std::vector<SegmentPlace> places(pointers_.size());
  std::shared_ptr<const Multicast> multicast;
  SegmentId last_segment = 0;
  bool any = false;
  for (size_t i = 0; i < count_; i++) {
    const SegmentId own = entries(static_cast<int>(me))[i].segment;
    if (own != last_segment) multicast = context_.process().multicast_of(last_segment = own);
    if (!own || !multicast) continue;
    for (size_t h = 0; h < places.size(); h++) {
      const Entry& entry = entries(static_cast<int>(h))[i];
      places[h] = {pointers_[h][i].here ? entry.segment : 0, entry.offset};
    }
    const auto offset = common_offset(*multicast, places, bytes_[i]);
    if (!offset) continue;
    all[i] = {multicast, *offset};
    any = true;
  }
  if (!any) all.clear();
  return all;
}

int64_t AddressTable::partly_shared(int& local) const {
  const int locals = static_cast<int>(pointers_.size());
  for (size_t i = 0; i < count_; i++) {
    const Entry first = entries(0)[i];
    for (int l = 1; l < locals; l++) {
      const Entry other = entries(l)[i];
      if (!first.shared && !other.shared) continue;
      if (first.segment != other.segment || first.offset != other.offset)
        return local = l, static_cast<int64_t>(i);
    }
  }
  return -1;
}

}  // namespace tide
