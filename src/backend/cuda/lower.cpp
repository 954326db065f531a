// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/cuda/lower.hpp"

#include <algorithm>
#include <iterator>

#include "backend/host/host.hpp"
#include "core/error.hpp"

namespace tide::gpu {
namespace {

char* offset(const Pointer& p, size_t bytes) {
  return p.here ? static_cast<char*>(p.here) + bytes : nullptr;
}

// Places a Copy writes a piece to, each once.
std::vector<void*> places(const Work& work, const Copy& op, const Piece& piece, size_t elem_bytes) {
  if (op.dst.buffer != Buffer::param)
    return {workspace_at(work, op.dst, op.interval, piece, elem_bytes)};
  const Topology& t = *work.topology;
  const int locals = t.size(t.node(work.rank));
  const int first = op.dst.rank == every_local ? 0 : t.local(op.dst.rank);
  const int end = op.dst.rank == every_local ? locals : first + 1;
  std::vector<void*> result;
  for (int h = first; h < end; h++) {
    char* dst =
        offset(work.addresses.param[static_cast<size_t>(h)][piece.param], piece.elem * elem_bytes);
    if (!dst) throw Error(Kind::intern, "parameter {} has no address here", piece.param);
    if (std::find(result.begin(), result.end(), dst) == result.end()) result.push_back(dst);
  }
  return result;
}

// Parts that are rounded and copied in turn, of about equal size and not too small.
constexpr size_t least_part = size_t{4} << 20;  // elements
constexpr size_t most_parts = 8;

std::vector<Rounding> in_parts(const std::vector<Landing>& pieces, Stream& stream) {
  size_t left = 0;
  for (const Landing& l : pieces) left += l.elems;
  const size_t part = std::max(least_part, (left + most_parts - 1) / most_parts);
  std::vector<Rounding> result;
  std::vector<Landing> landings;
  std::vector<CopyCall> copies;
  size_t room = part;
  const auto close = [&] {
    if (landings.empty()) return;
    result.push_back(
        {stream.landing(landings), copies.empty() ? nullptr : stream.copies(carried(copies))});
    landings.clear();
    copies.clear();
    room = part;
  };
  for (const Landing& piece : pieces)
    for (size_t at = 0; at < piece.elems;) {
      const size_t elems = std::min(piece.elems - at, room), size = bytes_of(piece.to);
      Landing here{static_cast<const char*>(piece.src) + at * bytes_of(piece.from),
                   elems,
                   piece.from,
                   piece.to,
                   {}};
      for (void* to : piece.dst) here.dst.push_back(static_cast<char*>(to) + at * size);
      for (size_t d = piece.near; d < here.dst.size(); d++)
        copies.push_back({here.dst[d], here.dst.front(), elems * size, piece.through});
      here.dst.resize(piece.near);
      landings.push_back(std::move(here));
      at += elems;
      room -= elems;
      if (room == 0) close();
    }
  close();
  return result;
}

}  // namespace

std::vector<const void*> addresses_of(const Work& work) {
  std::vector<const void*> all;
  const size_t count = static_cast<size_t>(work.layout->params());
  for (const Pointer* list : work.addresses.param)
    for (size_t p = 0; p < count; p++) all.push_back(list[p].here);
  for (size_t p = 0; p < count; p++) {
    all.push_back(work.addresses.shard_in ? work.addresses.shard_in[p] : nullptr);
    all.push_back(work.addresses.shard_out ? work.addresses.shard_out[p] : nullptr);
  }
  all.insert(all.end(), work.addresses.workspace.begin(), work.addresses.workspace.end());
  for (const MulticastPlace& m : work.addresses.multicast)
    all.push_back(m.of ? m.address() : nullptr);
  const MulticastPlace& landing = work.addresses.workspace_multicast;
  all.push_back(landing.of ? landing.address() : nullptr);
  all.push_back(work.switch_adds ? &work.switch_adds : nullptr);
  all.push_back(work.in_place ? &work : nullptr);
  return all;
}

// Between memories of one device no copy engine is at work, whatever call is made: there a landing
// is a kernel of few thread blocks.  Everything else is left to the copy engines; but many small
// pieces for other devices, each of which would cost an engine two microseconds, go by the kernel.
constexpr size_t small_bytes = size_t{32} << 10, few_small = 16;
Lowered lower(const Work& work, int me, const Copy& op, const Interval& part, int device,
              Stream& stream) {
  Lowered result;
  std::vector<CopyCall> copies;
  std::vector<Landing> landings, small, rounded;
  std::vector<Summing> zeros;
  work.layout->for_each_piece(part, [&](const Piece& piece) {
    const size_t p = static_cast<size_t>(piece.param);
    const Dtype full = work.types->param[p];
    const size_t size = bytes_of(full), bytes = piece.elems * size;
    const Pointer& own = work.addresses.param[static_cast<size_t>(me)][p];
    Dtype from = full;
    const void* src = nullptr;
    if (op.src.buffer == Buffer::shard) {
      if (work.in_place || !work.addresses.shard_in[p]) {
        src = offset(own, piece.elem * size);
      } else {
        from = work.types->shard[p];
        src = static_cast<const char*>(work.addresses.shard_in[p]) +
              piece.shard_elem * bytes_of(from);
      }
    } else if (op.src.buffer == Buffer::param) {
      const auto local = static_cast<size_t>(work.topology->local(op.src.rank));
      src = offset(work.addresses.param[local][p], piece.elem * size);
    } else {
      src = workspace_at(work, op.src, op.interval, piece, size);
    }
    const MulticastPlace* multicast =
        op.dst.rank == every_local ? work.addresses.multicast_of(piece.param) : nullptr;
    if (multicast && src) {
      char* to = multicast->address() + piece.elem * size;
      if (multicast_cut(to, bytes).middle) {
        result.stored_bytes += bytes * multicast->of->member.size();
        if (from == full)
          copies.push_back({to, src, bytes, multicast->of});
        else
          rounded.push_back({src,
                             piece.elems,
                             from,
                             full,
                             {offset(own, piece.elem * size), to},
                             1,
                             multicast->of});
        return;
      }
    }
    std::vector<void*> dst = places(work, op, piece, size);
    std::erase(dst, src);
    if (dst.empty()) return;
    result.stored_bytes += dst.size() * bytes;
    if (!src) {  // a gradient that is not there: -0
      for (void* to : dst)
        zeros.push_back({{nullptr},
                         nullptr,
                         to,
                         piece.elems,
                         full,
                         full == Dtype::fp64 ? Dtype::fp64 : Dtype::fp32,
                         full,
                         true});
      return;
    }
    const bool from_here = device_of(src) == device;
    Landing landing{src, piece.elems, from, full, {}};
    for (void* to : dst)
      if (from_here && device_of(to) == device) landing.dst.push_back(to);
    if (from != full) {
      if (landing.dst.empty()) landing.dst.push_back(dst.front());
      landing.near = landing.dst.size();
      for (void* to : dst)
        if (std::find(landing.dst.begin(), landing.dst.end(), to) == landing.dst.end())
          landing.dst.push_back(to);
      rounded.push_back(std::move(landing));
      return;
    } else {
      for (void* to : dst)
        if (std::find(landing.dst.begin(), landing.dst.end(), to) == landing.dst.end()) {
          if (bytes <= small_bytes && from_here && device_of(to) >= 0)
            small.push_back({src, piece.elems, full, full, {to}});
          else
            copies.push_back({to, src, bytes});
        }
    }
    if (!landing.dst.empty()) landings.push_back(std::move(landing));
  });
  if (small.size() > few_small)
    std::move(small.begin(), small.end(), std::back_inserter(landings));
  else
    for (const Landing& l : small)
      copies.push_back({l.dst.front(), l.src, l.elems * bytes_of(l.to)});
  copies = carried(copies);
  if (!copies.empty()) result.copies = stream.copies(copies);
  result.roundings = in_parts(rounded, stream);
  if (!landings.empty()) result.landing = stream.landing(landings);
  while (!zeros.empty()) {  // one program has one type
    const Dtype type = zeros.front().in;
    const auto rest = std::stable_partition(zeros.begin(), zeros.end(),
                                            [&](const Summing& z) { return z.in == type; });
    result.zeros.push_back(stream.summing({zeros.begin(), rest}, {1}));
    zeros.erase(zeros.begin(), rest);
  }
  return result;
}

}  // namespace tide::gpu
