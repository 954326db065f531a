// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Copies and sums of the host backend: a packed interval becomes pieces of parameters, a piece
// becomes addresses.
#include <algorithm>
#include <array>

#include "backend/host/host.hpp"
#include "core/remote_memory.hpp"

namespace tide {

// Elements may be smaller there than the packing counts
// (gradients in the stage of a plan of partials): they fill the front of the room of the whole
// operation's piece.
char* workspace_at(const Work& work, const Region& region, Interval whole, const Piece& piece,
                   size_t elem_bytes) {
  const int local = work.topology->local(region.rank);
  const size_t p = static_cast<size_t>(piece.param);
  const size_t start = std::max(whole.begin, work.layout->offsets(whole.rank)[p]);
  const size_t elem = (piece.packed - start) / work.layout->elem_bytes(piece.param);
  return work.addresses.workspace[local] + region_start(work.plan->places, region.buffer) +
         region.offset + (start - whole.begin) + elem * elem_bytes;
}

Sum as_sum(const SwitchSum& op) {
  return {op.dst, op.base, op.src, every_local, Order::rows, op.interval};
}

char* local_row(const Work& work, const Sum& op, const Piece& piece, size_t elem_bytes, int h) {
  const Topology& t = *work.topology;
  if (op.src.buffer != Buffer::param)
    return workspace_at(work, {op.src.buffer, t.rank(t.node(work.rank), h), op.src.offset},
                        op.interval, piece, elem_bytes);
  const Pointer& p = work.addresses.param[static_cast<size_t>(h)][piece.param];
  return p.here ? static_cast<char*>(p.here) + piece.elem * elem_bytes : nullptr;
}

SwitchRows switch_rows(const Work& work, const Sum& op, const Piece& piece) {
  if (op.rows != every_local || !work.switch_adds) return {};
  const size_t p = static_cast<size_t>(piece.param);
  const bool final = op.dst.buffer == Buffer::shard, gradients = op.src.buffer == Buffer::param;
  const Dtype acc = work.types->acc[p], in = gradients ? work.types->param[p] : acc;
  const MulticastPlace* place =
      gradients ? work.addresses.multicast_of(piece.param) : &work.addresses.workspace_multicast;
  if (!place || !place->of || !switch_adds(in, acc, work.types->shard[p], final)) return {};
  const char* own = local_row(work, op, piece, bytes_of(in), 0);
  const char* start =
      gradients ? static_cast<char*>(work.addresses.param[0][p].here) : work.addresses.workspace[0];
  return {place->of, place->address() + (own - start)};
}

namespace {

constexpr size_t block_bytes = size_t{64}
                               << 10;        // of a row of foreign memory in the scratch buffer
constexpr size_t stream_piece_bytes = 4096;  // shorter pieces are stored through the cache

Pointer moved(Pointer p, size_t bytes) {
  if (p.here) p.here = static_cast<char*>(p.here) + bytes;
  if (p.there) p.there += bytes;
  return p;
}

[[noreturn]] void unreachable_memory(const Work& work, int local, int param) {
  throw Error(
      Kind::peer,
      "rank {}: memory of parameter {} cannot be reached; allocate it with MPIX_Tide_alloc or set "
      "tide_foreign=staged",
      work.topology->comm_rank(work.topology->rank(work.topology->node(work.rank), local)), param);
}

// A run of -0 (the neutral element) in each type, for gradients that are not there.  Made by the
// compiler: the first call takes the same way as all others.
const void* negative_zeros(Dtype dtype) {
  struct Zeros {
    alignas(64) std::array<uint16_t, block_bytes / 2> half;
    alignas(64) std::array<float, block_bytes / 4> single;
    alignas(64) std::array<double, block_bytes / 8> full;
    constexpr Zeros() { half.fill(0x8000), single.fill(-0.0F), full.fill(-0.0); }
  };
  static constexpr Zeros zeros;
  if (dtype == Dtype::fp64) return zeros.full.data();
  if (dtype == Dtype::fp32) return zeros.single.data();
  return zeros.half.data();
}

}  // namespace

// What a switch does with a store to a multicast address.
void HostBackend::fan_out(const Work& work, const MulticastPlace& place, size_t offset,
                          const void* src, size_t bytes, bool stream) {
  const char* at = place.address() + offset;
  for (int h = 0; h < work.topology->size(work.topology->node(work.rank)); h++)
    if (void* to = place.of->behind(at, bytes, h); to != src) tide::copy(to, src, bytes, stream);
}

// The places a Copy writes to: all local ranks' parameters, or one rank's buffer.
void HostBackend::copy(const Work& work, const Copy& op, Interval part) {
  const Topology& t = *work.topology;
  const int locals = t.size(t.node(work.rank));
  work.layout->for_each_piece(part, [&](const Piece& piece) {
    const size_t p = static_cast<size_t>(piece.param);
    const Dtype full = work.types->param[p];
    const size_t bytes = piece.elems * bytes_of(full), offset = piece.elem * bytes_of(full);
    const bool stream = work.stream && bytes >= stream_piece_bytes;
    // source
    const int me = node_.local_rank();
    const void* src = nullptr;
    bool convert_first = false;
    if (op.src.buffer == Buffer::shard) {
      if (work.in_place || !work.addresses.shard_in[p])
        src = moved(work.addresses.param[me][p], offset).here;
      else
        src = static_cast<const char*>(work.addresses.shard_in[p]) +
              piece.shard_elem * bytes_of(work.types->shard[p]),
        convert_first = work.types->shard[p] != full;
    } else if (op.src.buffer == Buffer::param) {
      const int from = t.local(op.src.rank);
      const Pointer grad = moved(work.addresses.param[from][p], offset);
      src = grad.here;
      if (!src && grad.there) {  // foreign: straight into the workspace
        read_remote(work.addresses.pid[from],
                    workspace_at(work, op.dst, op.interval, piece, bytes_of(full)), grad.there,
                    bytes);
        return;
      }
      if (!src) {
        char* dst = workspace_at(work, op.dst, op.interval, piece, bytes_of(full));
        for (size_t done = 0; done < bytes; done += block_bytes)
          tide::copy(dst + done, negative_zeros(full), std::min(block_bytes, bytes - done), false);
        return;
      }
    } else {
      src = workspace_at(work, op.src, op.interval, piece, bytes_of(full));
    }
    // destination
    if (op.dst.buffer != Buffer::param) {
      char* dst = workspace_at(work, op.dst, op.interval, piece, bytes_of(full));
      if (convert_first)
        convert(dst, full, src, work.types->shard[p], piece.elems);
      else
        tide::copy(dst, src, bytes, false);
      return;
    }
    if (convert_first) {  // rounded once, into the own parameter, and spread from there
      void* own = moved(work.addresses.param[me][p], offset).here;
      convert(own, full, src, work.types->shard[p], piece.elems);
      src = own;
    }
    const auto to_each = [&](size_t begin, size_t end) {
      if (begin == end) return;
      const char* from = static_cast<const char*>(src) + begin;
      std::array<void*, 64> to;
      int count = 0;
      const int first = op.dst.rank == every_local ? 0 : t.local(op.dst.rank);
      const int last = op.dst.rank == every_local ? locals : first + 1;
      for (int h = first; h < last; h++) {
        const Pointer dst = moved(work.addresses.param[h][p], offset + begin);
        if (!dst.here) {
          if (!dst.there) unreachable_memory(work, h, piece.param);
          write_remote(work.addresses.pid[h], dst.there, from, end - begin);
        } else if (dst.here != from && (count == 0 || to[count - 1] != dst.here)) {
          to[count++] = dst.here;
          if (count == static_cast<int>(to.size()))
            copy_to_all(to.data(), count, from, end - begin, stream), count = 0;
        }
      }
      if (count == 1)
        tide::copy(to[0], from, end - begin, stream);
      else if (count)
        copy_to_all(to.data(), count, from, end - begin, stream);
    };
    const MulticastPlace* place =
        op.dst.rank == every_local ? work.addresses.multicast_of(piece.param) : nullptr;
    if (!place) return to_each(0, bytes);
    const MulticastCut cut = multicast_cut(place->address() + offset, bytes);
    to_each(0, cut.head);
    if (cut.middle)
      fan_out(work, *place, offset + cut.head, static_cast<const char*>(src) + cut.head, cut.middle,
              stream);
    to_each(cut.head + cut.middle, bytes);
  });
}

void HostBackend::sum(const Work& work, const Sum& op, Interval part) {
  const Topology& t = *work.topology;
  const bool every = op.rows == every_local;
  const int rows = every ? t.size(t.node(work.rank)) : op.rows;
  const Arithmetic* final = op.dst.buffer == Buffer::shard ? &work.arithmetic : nullptr;
  const bool raw_rows =
      op.src.buffer == Buffer::param || op.src.buffer == Buffer::stage || work.plan->raw;
  thread_local std::vector<const void*> source;
  thread_local std::vector<int> groups;
  source.resize(static_cast<size_t>(rows));
  groups.clear();
  if (op.order == Order::nodes)
    for (int n = 0; n < t.nodes(); n++) groups.push_back(t.size(n));
  else
    groups.push_back(rows);

  work.layout->for_each_piece(part, [&](const Piece& piece) {
    const size_t p = static_cast<size_t>(piece.param);
    const Dtype acc = work.types->acc[p], in = raw_rows ? work.types->param[p] : acc;
    const size_t in_bytes = bytes_of(in);
    bool blocked = false;
    if (every && op.src.buffer == Buffer::param)
      for (int h = 0; h < rows; h++) blocked |= !work.addresses.param[h][p].here;
    const SwitchRows through = switch_rows(work, op, piece);
    if (blocked) scratch_.resize(static_cast<size_t>(rows) * block_bytes);
    const size_t step = blocked ? block_bytes / 8 : piece.elems;
    for (size_t done = 0; done < piece.elems; done += step) {
      const size_t elems = std::min(step, piece.elems - done);
      for (int h = 0; h < rows; h++) {
        const void*& row = source[static_cast<size_t>(h)];
        if (through.of) {
          row = through.of->behind(through.at, piece.elems * in_bytes, h);
        } else if (every && op.src.buffer != Buffer::param) {
          row = local_row(work, op, piece, in_bytes, h);
        } else if (every) {
          const Pointer grad = moved(work.addresses.param[h][p], (piece.elem + done) * in_bytes);
          row = grad.here;
          if (!row && grad.there) {
            char* copy_of = scratch_.data() + static_cast<size_t>(h) * block_bytes;
            read_remote(work.addresses.pid[h], copy_of, grad.there, elems * in_bytes);
            row = copy_of;
          }
          if (!row) row = negative_zeros(in);
        } else {
          const int k = op.order == Order::ranks ? t.position(h) : h;
          row = workspace_at(work, op.src, op.interval, piece, in_bytes) +
                static_cast<size_t>(k) * op.src.pitch + done * in_bytes;
        }
      }
      SumRows job{source.data(),
                  groups.data(),
                  static_cast<int>(groups.size()),
                  in,
                  acc,
                  nullptr,
                  nullptr,
                  acc,
                  final,
                  elems,
                  false};
      if (op.base)
        job.base =
            workspace_at(work, *op.base, op.interval, piece, bytes_of(acc)) + done * bytes_of(acc);
      if (final) {
        job.out = work.types->shard[p];
        job.dst = static_cast<char*>(work.addresses.shard_out[p]) +
                  (piece.shard_elem + done) * bytes_of(job.out);
        job.stream = work.stream && elems * bytes_of(job.out) >= stream_piece_bytes;
      } else {
        job.dst =
            workspace_at(work, op.dst, op.interval, piece, bytes_of(acc)) + done * bytes_of(acc);
      }
      tide::sum(job);
    }
  });
}

}  // namespace tide
