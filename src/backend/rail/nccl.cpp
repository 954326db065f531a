// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Calls.  Set-up and the end: nccl_setup.cpp.
#include "backend/rail/nccl.hpp"

#include <algorithm>
#include <mutex>

#include "core/error.hpp"

namespace tide {

constexpr int note_tag = 31997;
constexpr size_t most_nccl_puts = 256;  // of a call under way at once
constexpr size_t gather_way = 0, reduce_way = 1;

static size_t way_of(int index) { return index >= round_0 ? gather_way : reduce_way; }

void NcclRail::begin(int s) {
  Slot& slot = slots_[s];
  slot.call++;
  for (Channel& c : slot.channels) {
    c.counts = {};
    c.telling = {};
    c.opened.clear();
    c.filled = 0;
  }
  slot.complete = 0;
}

NcclRail::Channel& NcclRail::channel(int s, int rank) {
  auto& channels = slots_[s].channels;
  for (Channel& c : channels)
    if (c.rank == rank) return c;
  channels.emplace_back().rank = rank;
  return channels.back();
}

const NcclRail::Memory& NcclRail::memory_of(const void* address) const {
  const std::lock_guard lock(memories_mutex_);
  for (const Memory& m : memories_) {
    const auto* base = static_cast<const char*>(m.segment->base());
    if (address >= base && address < base + m.segment->bytes()) return m;
  }
  throw Error(Kind::intern, "an address outside of the device workspace; report this");
}

NcclWindow NcclRail::window(int64_t memory, size_t way) const {
  const std::lock_guard lock(memories_mutex_);
  for (const Memory& m : memories_)
    if (m.number == memory) return m.windows[way];
  throw Error(Kind::intern, "a peer opened memory that is not registered; report this");
}

void NcclRail::send(int rank, const Note& note) {
  Outgoing& out = outgoing_.emplace_back(Outgoing{MPI_REQUEST_NULL, note});
  check_mpi(MPI_Isend(&out.note, sizeof out.note, MPI_BYTE, topology_.comm_rank(rank), note_tag,
                      comm_, &out.request),
            "MPI_Isend");
}

void NcclRail::open(int s, int peer, const Incoming& incoming, void* address) {
  const Memory& m = memory_of(address);
  const auto offset = static_cast<const char*>(address) - static_cast<char*>(m.segment->base());
  channel(s, peer).telling = {m.number, static_cast<uint64_t>(offset), incoming.bytes};
}

void NcclRail::signal(int s, int peer, int index) {
  send(peer, {slots_[s].call, s, index, rank_, 0, std::exchange(channel(s, peer).telling, {})});
}

void NcclRail::put(int s, const Put& put, const void* source) {
  Channel& c = channel(s, put.peer);
  if (c.opened.empty())
    throw Error(Kind::intern, "a put for a region that its peer has not opened; report this");
  Opening& front = c.opened.front();
  if (put.bytes > front.bytes - c.filled)
    throw Error(Kind::peer, "a peer opened {} bytes, of which {} are filled, for a put of {}",
                front.bytes, c.filled, put.bytes);
  const Opening at{front.memory, front.offset + c.filled, put.bytes};
  c.filled += put.bytes;
  if (c.filled == front.bytes) c.opened.pop_front(), c.filled = 0;
  ways_[way_of(put.signal)].sending.push_back({s, put.peer, put.signal, source, put.bytes, at, 0});
  slots_[s].in_flight++;
  slots_[s].in_flight_bytes += put.bytes;
}

bool NcclRail::may_put(int s, size_t bytes, size_t cap) const {
  const Slot& slot = slots_[s];
  return slot.in_flight == 0 ||
         (slot.in_flight < most_nccl_puts && slot.in_flight_bytes + bytes <= cap);
}

// A note for a call that is not the slot's is of one that was given up here.
void NcclRail::take_notes() {
  for (;;) {
    int flag = 0, bytes = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, note_tag, comm_, &flag, &status), "MPI_Iprobe");
    if (!flag) return;
    Note note{};
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    check_mpi(MPI_Recv(&note, sizeof note, MPI_BYTE, status.MPI_SOURCE, note_tag, comm_,
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
    if (bytes != sizeof note || note.slot < 0 || note.slot >= slot_count || note.index < 0 ||
        note.index >= index_count || note.from < 0 || note.from >= topology_.ranks() ||
        topology_.comm_rank(note.from) != status.MPI_SOURCE || note.call != slots_[note.slot].call)
      continue;
    if (note.is_put) {
      ways_[way_of(note.index)].waiting.push_back({note.slot, note.from, note.index, 0});
      slots_[note.slot].waits++;
      continue;
    }
    Channel& c = channel(note.slot, note.from);
    c.counts[static_cast<size_t>(note.index)]++;
    if (note.opening.memory >= 0) c.opened.push_back(note.opening);
  }
}

// All puts that are due in one group, so that they overlap; then all waits in one call.
void NcclRail::issue(size_t w) {
  Way& way = ways_[w];
  if (way.puts_issued < way.sending.size()) {
    library_.check(library_.group_start(), "ncclGroupStart");
    int code = 0;
    for (size_t k = way.puts_issued; k < way.sending.size() && code == 0; k++) {
      const Sending& p = way.sending[k];
      code = library_.put_signal(p.source, p.bytes, nccl_bytes, p.rank, window(p.at.memory, w),
                                 p.at.offset, 0, 0, 0, way.comm, way.stream->native());
    }
    const int ended = library_.group_end();
    library_.check(code ? code : ended, "ncclPutSignal");
    const uint64_t mark = way.stream->mark();
    for (; way.puts_issued < way.sending.size(); way.puts_issued++)
      way.sending[way.puts_issued].mark = mark;
  }
  if (way.waits_issued == way.waiting.size()) return;
  waits_.clear();
  for (size_t k = way.waits_issued; k < way.waiting.size(); k++) {
    const int rank = way.waiting[k].rank;
    const auto known = std::find_if(waits_.begin(), waits_.end(),
                                    [&](const NcclWait& wait) { return wait.peer == rank; });
    if (known == waits_.end())
      waits_.push_back({1, rank, 0, 0});
    else
      known->count++;
  }
  library_.check(library_.wait_signal(static_cast<int>(waits_.size()), waits_.data(), way.comm,
                                      way.stream->native()),
                 "ncclWaitSignal");
  const uint64_t mark = way.stream->mark();
  for (; way.waits_issued < way.waiting.size(); way.waits_issued++)
    way.waiting[way.waits_issued].mark = mark;
}

// In the order of issue: a peer counts the signals of its notes in that order.
void NcclRail::complete(Way& way) {
  while (way.puts_issued && way.stream->reached(way.sending.front().mark)) {
    const Sending& p = way.sending.front();
    Slot& slot = slots_[p.slot];
    slot.complete++;
    slot.in_flight--;
    slot.in_flight_bytes -= p.bytes;
    send(p.rank, {slot.call, p.slot, p.index, rank_, 1, {}});
    way.sending.pop_front();
    way.puts_issued--;
  }
  while (way.waits_issued && way.stream->reached(way.waiting.front().mark)) {
    const Waiting& w = way.waiting.front();
    channel(w.slot, w.rank).counts[static_cast<size_t>(w.index)]++;
    slots_[w.slot].waits--;
    way.waiting.pop_front();
    way.waits_issued--;
  }
  while (!outgoing_.empty()) {
    int flag = 0;
    check_mpi(MPI_Test(&outgoing_.front().request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    if (!flag) break;
    outgoing_.pop_front();
  }
}

void NcclRail::check_peers() {
  constexpr unsigned seldom = 256;  // looks
  if (++looks_ % seldom) return;
  for (const Way& way : ways_) {
    int code = 0;
    library_.check(library_.async_error(way.comm, &code), "ncclCommGetAsyncError");
    library_.check(code, "NCCL lost a peer");
  }
}

void NcclRail::progress(int s) {
  records_.progress(s);
  take_notes();
  const std::unique_lock lock(in_nccl_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // set-up is in it, on all ranks
  const gpu::Use use(device_);
  for (size_t w = 0; w < ways_.size(); w++) {
    issue(w);
    complete(ways_[w]);
  }
  check_peers();
}

bool NcclRail::arrived(int s, int peer, int index, uint64_t until) {
  return channel(s, peer).counts[static_cast<size_t>(index)] >= until;
}

size_t NcclRail::puts_complete(int s) { return slots_[s].complete; }

bool NcclRail::idle(int s) {
  if (slots_[s].in_flight || slots_[s].waits || !outgoing_.empty()) progress(s);
  return records_.idle(s) && !slots_[s].in_flight && !slots_[s].waits && outgoing_.empty();
}

int NcclRail::awaited(int s) {
  for (const Way& way : ways_)
    for (const Sending& p : way.sending)
      if (p.slot == s) return p.rank;
  return -1;
}

}  // namespace tide
