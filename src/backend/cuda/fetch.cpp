// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/cuda/fetch.hpp"

#include <algorithm>

namespace tide::gpu {
namespace {

constexpr size_t least_bytes = size_t{64} << 10;  // of a row: shorter ones the kernel reads itself
constexpr size_t step_elems = 4096;               // cuts keep every row's alignment

constexpr size_t line_up(size_t bytes) { return (bytes + 15) / 16 * 16; }

// Rows by their place; device_of is a call of the driver's.
std::vector<size_t> far_rows(const Summing& s, int device) {
  std::vector<size_t> far;
  for (size_t r = 0; r < s.rows.size(); r++)
    if (s.rows[r] && device_of(s.rows[r]) != device) far.push_back(r);
  return far;
}

Summing slice(const Summing& s, size_t from, size_t elems) {
  const auto ahead = [](const void* at, size_t bytes) {
    return at ? static_cast<const char*>(at) + bytes : nullptr;
  };
  Summing part = s;
  part.elems = elems;
  for (const void*& row : part.rows) row = ahead(row, from * bytes_of(s.in));
  part.base = ahead(s.base, from * bytes_of(s.acc));
  part.dst = static_cast<char*>(s.dst) + from * bytes_of(s.final ? s.out : s.acc);
  return part;
}

struct Cut {
  std::vector<CopyCall> copies;
  std::vector<Summing> sums;
};

std::vector<Cut> cut(std::vector<Summing>& pieces, int device, Scratch& scratch) {
  const size_t part_bytes = scratch.slot_bytes();
  std::vector<Cut> parts;
  size_t used = part_bytes;  // of the last part's slot
  const auto open = [&] {
    parts.emplace_back();
    used = 0;
  };
  std::vector<Summing> near;
  for (const Summing& s : pieces) {
    const size_t size = bytes_of(s.in);
    const std::vector<size_t> far =
        s.elems * size < least_bytes ? std::vector<size_t>() : far_rows(s, device);
    if (far.empty()) {
      near.push_back(s);
      continue;
    }
    for (size_t done = 0; done < s.elems;) {
      const size_t padding = far.size() * 32;  // of the places of all rows
      const size_t room = used + padding < part_bytes ? part_bytes - used - padding : 0;
      size_t elems = std::min(s.elems - done, room / (far.size() * size));
      if (elems < s.elems - done) elems -= elems % step_elems;
      if (elems == 0) {
        open();
        continue;
      }
      char* const slot = scratch.slot(parts.size() - 1);
      Summing part = slice(s, done, elems);
      for (size_t r : far) {
        const void*& row = part.rows[r];
        char* const to = slot + line_up(used) + reinterpret_cast<uintptr_t>(row) % 16;
        parts.back().copies.push_back({to, row, elems * size});
        row = to;
        used = static_cast<size_t>(to - slot) + elems * size;
      }
      parts.back().sums.push_back(std::move(part));
      done += elems;
    }
  }
  pieces = std::move(near);
  return parts;
}

}  // namespace

std::vector<std::shared_ptr<Program>> summing(std::vector<Summing> pieces,
                                              const std::vector<int>& groups, Stream& stream) {
  std::vector<std::shared_ptr<Program>> result;
  while (!pieces.empty()) {
    const auto like = [first = pieces.front()](const Summing& s) {
      return s.in == first.in && s.acc == first.acc && s.out == first.out;
    };
    const auto rest = std::stable_partition(pieces.begin(), pieces.end(), like);
    result.push_back(stream.summing({pieces.begin(), rest}, groups));
    pieces.erase(pieces.begin(), rest);
  }
  return result;
}

std::vector<Part> fetching(std::vector<Summing>& pieces, const std::vector<int>& groups, int device,
                           Stream& fetch, Stream& stream, Scratch& scratch) {
  std::vector<Part> parts;
  for (Cut& part : cut(pieces, device, scratch))
    parts.push_back({fetch.copies(part.copies), summing(std::move(part.sums), groups, stream)});
  return parts;
}

void run(const std::vector<Part>& parts, Stream& fetch, Stream& stream,
         const Arithmetic& arithmetic, int ctas) {
  for (size_t k = 0; k < parts.size(); k++) {
    const size_t slot = k % Scratch::slots;
    fetch.follow(stream, slot);  // whoever had it last
    fetch.run(*parts[k].copies, {}, 1);
    fetch.pass(slot);
    stream.follow(fetch, slot);
    for (const auto& sum : parts[k].sums) stream.run(*sum, arithmetic, ctas);
    stream.pass(slot);
  }
}

char* Scratch::slot(size_t part) {
  if (!memory_) {
    memory_ = stream_.memory(slots * slot_bytes_);
    for (size_t k = 0; k < slots; k++) stream_.pass(k);  // there from now on
  }
  return static_cast<char*>(memory_.get()) + part % slots * slot_bytes_;
}

}  // namespace tide::gpu
