// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What goes through a multicast address, and through a switch, and what does not.
#include "backend/cuda/lower.hpp"
#include "backend/host/host.hpp"

namespace tide::gpu {

std::vector<CopyCall> carried(const std::vector<CopyCall>& copies) {
  std::vector<CopyCall> all;
  for (const CopyCall& c : copies) {
    if (!c.through) {
      all.push_back(c);
      continue;
    }
    const auto to_each = [&](size_t begin, size_t end) {
      if (begin == end) return;
      const char *at = static_cast<const char*>(c.dst) + begin,
                 *src = static_cast<const char*>(c.src) + begin;
      for (int h = 0; h < static_cast<int>(c.through->member.size()); h++)
        if (char* to = c.through->behind(at, end - begin, h); to != src)
          all.push_back({to, src, end - begin});
    };
    const MulticastCut cut = multicast_cut(c.dst, c.bytes);
    to_each(0, cut.head);
    if (c.through->emulated)
      to_each(cut.head, cut.head + cut.middle);
    else if (cut.middle)
      all.push_back({static_cast<char*>(c.dst) + cut.head,
                     static_cast<const char*>(c.src) + cut.head, cut.middle});
    to_each(cut.head + cut.middle, c.bytes);
  }
  return all;
}

void cut_by_switch(const Work& work, const Sum& op, const Piece& piece, const Summing& whole,
                   SumParts& into) {
  const SwitchRows through = switch_rows(work, op, piece);
  if (!through.of) return into.pieces.push_back(whole);
  const size_t in = bytes_of(whole.in);
  const auto bytes_of_row = [&](size_t begin, size_t end) {
    return part(whole, begin / in, end / in);
  };
  const size_t bytes = whole.elems * in;
  const MulticastCut cut = multicast_cut(through.at, bytes, in);
  if (cut.head) into.pieces.push_back(bytes_of_row(0, cut.head));
  if (cut.middle) {
    Summing middle = bytes_of_row(cut.head, cut.head + cut.middle);
    const char* at = through.at + cut.head;
    if (through.of->emulated) {
      for (size_t h = 0; h < middle.rows.size(); h++)
        middle.rows[h] = through.of->behind(at, cut.middle, static_cast<int>(h));
      into.pieces.push_back(std::move(middle));
    } else {
      middle.rows = {at};
      into.by_switch.push_back(std::move(middle));
    }
  }
  if (cut.head + cut.middle < bytes)
    into.pieces.push_back(bytes_of_row(cut.head + cut.middle, bytes));
}

}  // namespace tide::gpu
