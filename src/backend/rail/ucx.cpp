// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/rail/ucx.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/left_behind.hpp"
#include "core/rail_devices.hpp"

namespace tide {

constexpr int count_bits = 24;
constexpr int all_here = index_count;  // one more index: all that was put has come

struct UcxRail::RecordBox {
  std::atomic<uint64_t> call;
  uint64_t bytes;  // of eager; from here on what the call's number announces
  EntryRecord record;
  std::byte eager[most_eager];
};
struct alignas(64) UcxRail::Line {
  std::atomic<uint64_t> count[most_paths][index_count + 1];
  Opening openings[most_open];
};

static int record_rounds(const Topology& topology) {
  return std::bit_width(static_cast<unsigned>(topology.nodes() - 1));
}
static int record_places(const Topology& topology) { return 2 * 2 * record_rounds(topology); }

// The records of a slot's calls lie in two sets: a peer may be one call ahead of what was read
// here.
int UcxRail::record_place(uint64_t call, int round) const {
  const int set = static_cast<int>(call % 2) * 2 + round / first_end_round;
  return set * record_rounds(topology_) + round % first_end_round;
}

size_t UcxRail::record_at(int slot, int place) const {
  return static_cast<size_t>(slot * record_places(topology_) + place) * sizeof(RecordBox);
}

size_t UcxRail::line_at(int slot, int writer) const {
  const size_t records = record_at(slot_count, 0);
  const size_t first = (records + alignof(Line) - 1) / alignof(Line) * alignof(Line);
  const size_t node = static_cast<size_t>(topology_.node(writer));
  return first +
         (static_cast<size_t>(slot) * static_cast<size_t>(topology_.nodes()) + node) * sizeof(Line);
}

UcxRail::Line& UcxRail::line(int slot, int writer) const {
  return *reinterpret_cast<Line*>(static_cast<char*>(memory_->base()) + line_at(slot, writer));
}

UcxRail::UcxRail(const std::vector<std::shared_ptr<UcxWorker>>& workers, const Topology& topology,
                 int rank, std::vector<uint64_t> processes, std::string chosen)
    : topology_(topology),
      rank_(rank),
      processes_(std::move(processes)),
      chosen_(std::move(chosen)) {
  for (Slot& slot : slots_) slot.outbox.resize(static_cast<size_t>(record_places(topology_)));
  const int last = topology_.rank(topology_.nodes() - 1, 0);
  const size_t bytes = line_at(slot_count - 1, last) + sizeof(Line);
  memory_ = Segment::create(bytes);
  memory_->close_descriptor();
  static_assert(most_paths == most_rail_devices);
  for (const auto& worker : workers)
    paths_.push_back(std::make_unique<UcxPath>(worker, processes_.size(), memory_->base(), bytes));
}

// Peers that go on after the communicator was given up may still write to the board, and UCX read
// what it has not sent.
UcxRail::~UcxRail() {
  if (!abandoned_) return;
  never_free(memory_);
  never_free_value(std::move(paths_));
  for (Slot& slot : slots_) {
    never_free_value(std::move(slot.notes));
    never_free_value(std::move(slot.outbox));
    never_free_value(std::move(slot.sending));  // with the headers of messages
  }
}

std::string UcxRail::detail() const {
  std::string text;
  for (const auto& path : paths_) text += (text.empty() ? "" : "+") + path->device();
  return text.empty() ? chosen_ : text + " (" + chosen_ + ")";
}

// Paths meet by number: a rank with fewer of them is written to over those.
void UcxRail::connect(const Gather& gather) {
  for (size_t k = 0; k < most_paths; k++) {
    const bool mine = k < paths_.size();
    const std::vector<Bytes> all = gather(mine ? paths_[k]->introduction() : Bytes());
    if (k == 0) paths_of_.assign(all.size(), 0);
    bool any = false;
    for (size_t r = 0; r < all.size(); r++) {
      any |= !all[r].empty();
      if (!mine || all[r].empty()) continue;
      paths_[k]->meet(r, processes_[r], all[r]);
      paths_of_[r]++;
    }
    if (!any) break;
    ways_++;
  }
}

// Holds the memory on every path.
std::shared_ptr<const void> UcxRail::expose(void* base, size_t bytes) {
  auto all = std::make_shared<std::vector<std::shared_ptr<UcxMemory>>>();
  for (const auto& path : paths_) all->push_back(path->expose(base, bytes));
  return all;
}

void UcxRail::tell_exposed(const Gather& gather) {
  for (int k = 0; k < ways_; k++) {
    const auto mine = static_cast<size_t>(k) < paths_.size() ? paths_[k].get() : nullptr;
    const std::vector<Bytes> keys = gather(mine ? mine->last_key() : Bytes());
    for (size_t r = 0; mine && r < keys.size(); r++)
      if (k < paths_of_[r]) mine->learn(r, keys[r]);
  }
}

void UcxRail::drive() {
  for (const auto& path : paths_) path->progress();
}

UcxRail::Channel& UcxRail::channel(int s, int rank) {
  auto& channels = slots_[s].channels;
  for (Channel& c : channels)
    if (c.rank == rank) return c;
  channels.emplace_back().rank = rank;
  return channels.back();
}

uint64_t UcxRail::stamp(int s, uint64_t number) const {
  return slots_[s].call << count_bits | number;
}

size_t UcxRail::count_at(int s, int path, int index) const {
  return line_at(s, rank_) + offsetof(Line, count) +
         static_cast<size_t>(path * (index_count + 1) + index) * sizeof(uint64_t);
}

void UcxRail::announce(int s, int rank, const Announcement& head, const Opening* opening,
                       const void* data, size_t bytes) {
  Note& note = slots_[s].notes.emplace_back(Note{nullptr, rank, 0, head, {}});
  if (opening) {
    note.opening = *opening;
    data = &note.opening;
  }
  note.request = paths_[0]->announce(static_cast<size_t>(rank), note.head, data, bytes);
}

// With the region that the signal opens, if there is one.
void UcxRail::signal(int s, int rank, int index) {
  Channel& c = channel(s, rank);
  const uint64_t n = ++c.counts[0][static_cast<size_t>(index)];
  Announcement head{stamp(s, n), count_at(s, 0, index), 0};
  if (!c.telling.stamp) return announce(s, rank, head, nullptr, nullptr, 0);
  const size_t place = (c.opened - 1) % most_open;
  head.data_at = line_at(s, rank_) + offsetof(Line, openings) + place * sizeof(Opening);
  announce(s, rank, head, &c.telling, nullptr, sizeof(Opening));
  c.telling = {};
}

void UcxRail::count_puts(int s, int rank, int path, int index) {
  const auto p = static_cast<size_t>(path), r = static_cast<size_t>(rank);
  const uint64_t n = ++channel(s, rank).counts[p][static_cast<size_t>(index)];
  Note& note = slots_[s].notes.emplace_back(Note{nullptr, rank, path, {stamp(s, n), 0, 0}, {}});
  UcxPath& way = *paths_[p];
  way.fence();
  note.request = way.put(r, &note.head.word, sizeof note.head.word, 0,
                         way.board_of(r) + count_at(s, path, index));
}

bool UcxRail::counted(int s, int rank, int path, int index, uint64_t until) const {
  return line(s, rank).count[path][index].load(std::memory_order_acquire) >= stamp(s, until);
}

void UcxRail::begin(int s) {
  Slot& slot = slots_[s];
  slot.call++;
  for (Channel& c : slot.channels) {
    const int rank = c.rank;
    c = Channel();
    c.rank = rank;
  }
  slot.complete = slot.in_flight_bytes = 0;
}

void UcxRail::send_record(int s, int peer, int round, const EntryRecord& record, const void* eager,
                          size_t bytes) {
  const uint64_t call = slots_[s].call, size = bytes;
  const int place = record_place(call, round);
  const size_t at = record_at(s, place);
  constexpr size_t head = offsetof(RecordBox, eager) - offsetof(RecordBox, bytes);
  auto& out = slots_[s].outbox[static_cast<size_t>(place)];
  out.resize(head + bytes);
  std::memcpy(out.data(), &size, sizeof size);
  std::memcpy(out.data() + offsetof(RecordBox, record) - offsetof(RecordBox, bytes), &record,
              sizeof record);
  if (bytes) std::memcpy(out.data() + head, eager, bytes);
  announce(s, peer, {call, at + offsetof(RecordBox, call), at + offsetof(RecordBox, bytes)},
           nullptr, out.data(), out.size());
}

bool UcxRail::receive_record(int s, int, int round, EntryRecord& record, void* eager,
                             size_t bytes) {
  const uint64_t call = slots_[s].call;
  const auto* box = reinterpret_cast<const RecordBox*>(static_cast<const char*>(memory_->base()) +
                                                       record_at(s, record_place(call, round)));
  if (box->call.load(std::memory_order_acquire) != call) return false;
  record = box->record;
  if (bytes && box->bytes == bytes) std::memcpy(eager, box->eager, bytes);
  return true;
}

void UcxRail::open(int s, int peer, const Incoming& incoming, void* address) {
  Channel& c = channel(s, peer);
  const size_t place = c.opened % most_open;
  if (c.opened >= most_open && !arrived(s, peer, c.put_index, c.full_after[place]))
    throw Error(Kind::intern, "more than {} regions are open for a peer; report this", most_open);
  const uint64_t before = c.opened ? c.full_after[(c.opened - 1) % most_open] : 0;
  c.full_after[place] = before + (incoming.bytes + incoming.chunk - 1) / incoming.chunk;
  c.put_index = incoming.signal;
  c.opened++;
  c.telling = {reinterpret_cast<uint64_t>(address), incoming.bytes, paths_[0]->number_of(address),
               stamp(s, c.opened)};
}

void UcxRail::put(int s, const Put& put, const void* source) {
  Slot& slot = slots_[s];
  Channel& c = channel(s, put.peer);
  const Opening opening = line(s, put.peer).openings[c.used % most_open];
  if (opening.stamp != stamp(s, c.used + 1))
    throw Error(Kind::intern, "a put for a region that its peer has not opened; report this");
  if (c.filled > opening.bytes || put.bytes > opening.bytes - c.filled)
    throw Error(Kind::peer, "a peer opened {} bytes, of which {} are filled, for a put of {}",
                opening.bytes, c.filled, put.bytes);
  const auto to = static_cast<size_t>(put.peer);
  const int ways = paths_of_[to];
  const int path = static_cast<int>(c.puts++ % static_cast<uint64_t>(ways));
  UcxPath& way = *paths_[static_cast<size_t>(path)];
  const uint64_t address = opening.address + c.filled;
  slot.in_flight_bytes += put.bytes;
  c.filled += put.bytes;
  if (c.filled == opening.bytes) c.used++, c.filled = 0;
  if (way.over_sockets()) return send_pieces(s, put, path, source, address);
  slot.sending.push_back(
      {way.put(to, source, put.bytes, opening.memory, address), put.bytes, put.peer, path});
  count_puts(s, put.peer, path, put.signal);
}

// The last one brings the counter.
void UcxRail::send_pieces(int s, const Put& put, int path, const void* source, uint64_t address) {
  const auto p = static_cast<size_t>(path), r = static_cast<size_t>(put.peer);
  const uint64_t n = ++channel(s, put.peer).counts[p][static_cast<size_t>(put.signal)];
  const size_t pieces = (put.bytes + UcxWorker::most_piece - 1) / UcxWorker::most_piece;
  const size_t piece = (put.bytes + pieces - 1) / pieces;
  for (size_t at = 0; at < put.bytes; at += piece) {
    const size_t bytes = std::min(piece, put.bytes - at);
    const bool last = at + bytes == put.bytes;
    Sending& one =
        slots_[s].sending.emplace_back(Sending{nullptr, bytes, put.peer, path, last, {}});
    one.head = {stamp(s, n), last ? count_at(s, path, put.signal) : 0, address + at};
    one.request = paths_[p]->send(r, one.head, static_cast<const std::byte*>(source) + at, bytes);
  }
}

bool UcxRail::may_put(int s, size_t bytes, size_t cap) const {
  const Slot& slot = slots_[s];
  return slot.sending.empty() || slot.in_flight_bytes + bytes <= cap;
}

// Puts come over the paths in turn: the first `until` are here once each path has brought its part.
bool UcxRail::arrived(int s, int peer, int index, uint64_t until) {
  const bool of_puts = index == landed || index >= round_0;
  const uint64_t ways = of_puts ? static_cast<uint64_t>(paths_of_[static_cast<size_t>(peer)]) : 1;
  for (uint64_t k = 0; k < ways && k < until; k++)
    if (!counted(s, peer, static_cast<int>(k), index, (until - k + ways - 1) / ways)) return false;
  return true;
}

void UcxRail::poll(Slot& slot) {
  const auto done = [&](auto& what) {
    return paths_[static_cast<size_t>(what.path)]->test(static_cast<size_t>(what.rank),
                                                        what.request);
  };
  while (!slot.sending.empty() && done(slot.sending.front())) {
    slot.in_flight_bytes -= slot.sending.front().bytes;
    slot.complete += slot.sending.front().last;
    slot.sending.pop_front();
  }
  while (!slot.notes.empty() && done(slot.notes.front())) slot.notes.pop_front();
}

size_t UcxRail::puts_complete(int s) {
  poll(slots_[s]);
  return slots_[s].complete;
}

void UcxRail::check_peers() const {
  const char* why = "";
  for (const auto& path : paths_)
    if (const int rank = path->failed(why); rank >= 0)
      throw LostPeer(topology_.comm_rank(rank), fmt::format("UCX: {}", why));
}

void UcxRail::progress(int s) {
  drive();
  poll(slots_[s]);
  check_peers();
}

// A put over TCP or shared memory is work for both sides, and once a call is over here nobody may
// do this side's: so the receiver says that all has come, and both stay until then.
bool UcxRail::acknowledge(int s) {
  bool all = true;
  for (Channel& c : slots_[s].channels) {
    if (c.opened && !c.acknowledged &&
        arrived(s, c.rank, c.put_index, c.full_after[(c.opened - 1) % most_open])) {
      signal(s, c.rank, all_here);
      c.acknowledged = true;
    }
    all &= !c.opened || c.acknowledged;
    all &= !c.used || counted(s, c.rank, 0, all_here, 1);
  }
  return all;
}

bool UcxRail::idle(int s) {
  Slot& slot = slots_[s];
  progress(s);
  return acknowledge(s) && slot.sending.empty() && slot.notes.empty();
}

int UcxRail::awaited(int s) {
  const Slot& slot = slots_[s];
  if (!slot.sending.empty()) return slot.sending.front().rank;
  return slot.notes.empty() ? -1 : slot.notes.front().rank;
}

}  // namespace tide
