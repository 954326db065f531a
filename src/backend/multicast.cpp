// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/multicast.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace tide {

constexpr size_t multicast_alignment = 16;
constexpr size_t least_middle = size_t{4} << 10;  // of a piece with edges

char* Multicast::behind(const void* at, size_t wanted, int h) const {
  const auto begin = reinterpret_cast<uintptr_t>(address), from = reinterpret_cast<uintptr_t>(at);
  if (from < begin || from - begin > bytes || wanted > bytes - (from - begin))
    throw Error(Kind::intern, "{} bytes at {} are not behind the multicast address {} of {} bytes",
                wanted, at, static_cast<const void*>(address), bytes);
  return member.at(static_cast<size_t>(h)) + (from - begin);
}

std::shared_ptr<const Multicast> emulated_multicast(std::vector<char*> member,
                                                    std::vector<uint64_t> segment, size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw Error(Kind::no_mem, "an emulated multicast address of {} bytes: mmap: {}", bytes,
                strerror(errno));
  auto made = std::make_shared<Multicast>();
  made->address = static_cast<char*>(at);
  made->bytes = bytes;
  made->segment = std::move(segment);
  made->member = std::move(member);
  made->emulated = true;
  made->made = {at, [bytes](const void* p) { munmap(const_cast<void*>(p), bytes); }};
  return made;
}

std::optional<size_t> common_offset(const Multicast& multicast,
                                    const std::vector<SegmentPlace>& places, size_t bytes) {
  if (places.size() != multicast.segment.size() || places.empty()) return {};
  const size_t offset = places[0].offset;
  for (size_t h = 0; h < places.size(); h++)
    if (places[h].segment == 0 || places[h].segment != multicast.segment[h] ||
        places[h].offset != offset)
      return {};
  if (offset > multicast.bytes || bytes > multicast.bytes - offset) return {};
  return offset;
}

MulticastCut multicast_cut(const void* at, size_t bytes, size_t elem_bytes) {
  const size_t past = reinterpret_cast<uintptr_t>(at) % multicast_alignment;
  const size_t head = past ? multicast_alignment - past : 0;
  if (head >= bytes || head % elem_bytes) return {bytes, 0};
  const size_t middle = (bytes - head) / multicast_alignment * multicast_alignment;
  if (middle < bytes && middle < least_middle) return {bytes, 0};
  return {head, middle};
}

bool switch_adds(Dtype in, Dtype acc, Dtype out, bool final) {
  if (acc != Dtype::fp32) return false;
  if (in == Dtype::fp32) return true;
  return (in == Dtype::bf16 || in == Dtype::fp16) && final && out == in;
}

}  // namespace tide
