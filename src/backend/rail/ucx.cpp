// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/rail/ucx.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/left_behind.hpp"

namespace tide {
namespace {

constexpr int record_rounds = 32;
constexpr int count_bits = 24;

void append(Rail::Bytes& to, const void* from, size_t bytes) {
  if (!bytes) return;
  const size_t at = to.size();
  to.resize(at + bytes);
  std::memcpy(to.data() + at, from, bytes);
}

}  // namespace

struct UcxRail::Opening {  // a region for the reader of this line
  uint64_t address, bytes;
  uint64_t memory;  // number of the exposed memory
};
struct UcxRail::RecordBox {
  EntryRecord record;
  std::atomic<uint64_t> call;
};
struct alignas(64) UcxRail::Line {
  std::atomic<uint64_t> count[index_count + 1];  // the last: all that was put has come
  Opening openings[most_open];
};

// The records of a slot's calls lie in two sets: a peer may be one call ahead of what was read
// here.
size_t UcxRail::record_at(int slot, uint64_t call, int round) {
  const size_t set = static_cast<size_t>(slot) * 2 + call % 2;
  return (set * record_rounds + static_cast<size_t>(round)) * sizeof(RecordBox);
}

size_t UcxRail::line_at(int slot, int writer) const {
  constexpr size_t records = 2 * slot_count * record_rounds * sizeof(RecordBox);
  const size_t first = (records + alignof(Line) - 1) / alignof(Line) * alignof(Line);
  const size_t node = static_cast<size_t>(topology_.node(writer));
  return first +
         (static_cast<size_t>(slot) * static_cast<size_t>(topology_.nodes()) + node) * sizeof(Line);
}

UcxRail::Line& UcxRail::line(int slot, int writer) const {
  return *reinterpret_cast<Line*>(static_cast<char*>(memory_->base()) + line_at(slot, writer));
}

UcxRail::UcxRail(std::shared_ptr<UcxWorker> worker, const Topology& topology, int rank,
                 std::vector<uint64_t> processes)
    : worker_(std::move(worker)),
      topology_(topology),
      rank_(rank),
      processes_(std::move(processes)),
      remotes_(processes_.size()) {
  const int last = topology_.rank(topology_.nodes() - 1, 0);
  const size_t bytes = line_at(slot_count - 1, last) + sizeof(Line);
  memory_ = Segment::create(bytes);
  memory_->close_descriptor();
  registered_ = std::make_shared<UcxMemory>(worker_, memory_->base(), bytes);
}

UcxRail::~UcxRail() {
  for (const Remote& remote : remotes_)
    for (ucp_rkey_h key : remote.unpacked)
      if (key) worker_->release(key);
}

std::string UcxRail::detail() const {
  return worker_->devices().empty() ? "devices as UCX chooses" : worker_->devices();
}

void UcxRail::connect(const Gather& gather) {
  const uint64_t head[] = {reinterpret_cast<uint64_t>(memory_->base()), registered_->key().size()};
  Bytes mine;
  append(mine, head, sizeof head);
  append(mine, registered_->key().data(), registered_->key().size());
  append(mine, worker_->address().data(), worker_->address().size());
  const std::vector<Bytes> all = gather(mine);
  for (size_t r = 0; r < all.size(); r++) {
    const Bytes& said = all[r];
    Remote& remote = remotes_[r];
    uint64_t told[2] = {};
    if (said.size() >= sizeof told) std::memcpy(told, said.data(), sizeof told);
    if (said.size() < sizeof told || told[1] > said.size() - sizeof told)
      throw Error(Kind::peer, "rank {} told no UCX address; report this",
                  topology_.comm_rank(static_cast<int>(r)));
    remote.board = told[0];
    remote.keys.resize(1);
    remote.unpacked = {nullptr};
    append(remote.keys[0], said.data() + sizeof told, told[1]);
    append(remote.address, said.data() + sizeof told + told[1],
           said.size() - sizeof told - told[1]);
  }
}

std::shared_ptr<const void> UcxRail::expose(void* base, size_t bytes) {
  auto memory = bytes ? std::make_shared<UcxMemory>(worker_, base, bytes) : nullptr;
  exposed_.push_back(memory);
  return memory;
}

void UcxRail::tell_exposed(const Gather& gather) {
  const auto last = exposed_.back().lock();
  const std::vector<Bytes> keys = gather(last ? last->key() : Bytes());
  for (size_t r = 0; r < keys.size(); r++) {
    remotes_[r].keys.push_back(keys[r]);
    remotes_[r].unpacked.push_back(nullptr);
  }
}

UcxRail::Remote& UcxRail::remote(int rank) {
  Remote& r = remotes_[static_cast<size_t>(rank)];
  if (!r.peer) r.peer = &worker_->connect(processes_[static_cast<size_t>(rank)], r.address);
  return r;
}

ucp_rkey_h UcxRail::key(Remote& r, size_t memory) {
  if (memory >= r.keys.size() || r.keys[memory].empty())
    throw Error(Kind::peer, "a peer opened memory number {}, which it has not exposed", memory);
  if (!r.unpacked[memory]) r.unpacked[memory] = worker_->unpack(*r.peer, r.keys[memory]);
  return r.unpacked[memory];
}

UcxRail::Channel& UcxRail::channel(int s, int rank) {
  auto& channels = slots_[s].channels;
  for (Channel& c : channels)
    if (c.rank == rank) return c;
  channels.emplace_back().rank = rank;
  return channels.back();
}

void UcxRail::write(int s, int rank, const void* bytes, size_t size, uint64_t offset) {
  Slot& slot = slots_[s];
  Remote& r = remote(rank);
  Note& note = slot.notes.emplace_back();
  note.rank = rank;
  std::memcpy(note.bytes.data(), bytes, size);
  note.request =
      worker_->put(*r.peer, note.bytes.data(), size, r.board + offset, key(r, 0), nullptr);
}

void UcxRail::count(int s, int rank, int index) {
  const uint64_t n = ++channel(s, rank).counts[static_cast<size_t>(index)];
  const uint64_t word = slots_[s].call << count_bits | n;
  worker_->fence();
  write(s, rank, &word, sizeof word,
        line_at(s, rank_) + offsetof(Line, count) + static_cast<size_t>(index) * sizeof(uint64_t));
}

void UcxRail::begin(int s) {
  Slot& slot = slots_[s];
  slot.call++;
  for (Channel& c : slot.channels) {
    c.counts = {};
    c.opened = c.used = 0;
    c.filled = 0;
    c.acknowledged = false;
  }
  slot.complete = slot.in_flight_bytes = 0;
}

void UcxRail::send_record(int s, int peer, int round, const EntryRecord& record) {
  const uint64_t call = slots_[s].call;
  const size_t at = record_at(s, call, round);
  write(s, peer, &record, sizeof record, at + offsetof(RecordBox, record));
  worker_->fence();
  write(s, peer, &call, sizeof call, at + offsetof(RecordBox, call));
}

bool UcxRail::receive_record(int s, int, int round, EntryRecord& record) {
  const uint64_t call = slots_[s].call;
  const auto* box = reinterpret_cast<const RecordBox*>(static_cast<const char*>(memory_->base()) +
                                                       record_at(s, call, round));
  if (box->call.load(std::memory_order_acquire) != call) return false;
  record = box->record;
  return true;
}

void UcxRail::open(int s, int peer, const Incoming& incoming, void* address) {
  Channel& c = channel(s, peer);
  const size_t place = c.opened % most_open;
  const bool again = c.opened >= most_open;
  if (again && !arrived(s, peer, c.put_index, c.full_after[place]))
    throw Error(Kind::intern, "more than {} regions are open for a peer; report this", most_open);
  const uint64_t before = c.opened ? c.full_after[(c.opened - 1) % most_open] : 0;
  c.full_after[place] = before + (incoming.bytes + incoming.chunk - 1) / incoming.chunk;
  c.put_index = incoming.signal;
  c.opened++;
  Opening opening{reinterpret_cast<uint64_t>(address), incoming.bytes, 0};
  for (size_t k = 0; k < exposed_.size(); k++)
    if (const auto memory = exposed_[k].lock(); memory && memory->holds(address))
      opening.memory = k + 1;
  write(s, peer, &opening, sizeof opening,
        line_at(s, rank_) + offsetof(Line, openings) + place * sizeof opening);
}

void UcxRail::put(int s, const Put& put, const void* source) {
  Slot& slot = slots_[s];
  Channel& c = channel(s, put.peer);
  const Opening opening = line(s, put.peer).openings[c.used % most_open];
  if (put.bytes > opening.bytes - c.filled)
    throw Error(Kind::peer, "a peer opened {} bytes, of which {} are filled, for a put of {}",
                opening.bytes, c.filled, put.bytes);
  std::shared_ptr<UcxMemory> from;
  for (const auto& exposed : exposed_)
    if (auto memory = exposed.lock(); memory && memory->holds(source)) from = std::move(memory);
  Remote& r = remote(put.peer);
  slot.sending.push_back({worker_->put(*r.peer, source, put.bytes, opening.address + c.filled,
                                       key(r, opening.memory), from.get()),
                          put.bytes, put.peer});
  slot.in_flight_bytes += put.bytes;
  c.filled += put.bytes;
  if (c.filled == opening.bytes) c.used++, c.filled = 0;
  count(s, put.peer, put.signal);
}

bool UcxRail::may_put(int s, size_t bytes, size_t cap) const {
  const Slot& slot = slots_[s];
  return slot.sending.empty() || slot.in_flight_bytes + bytes <= cap;
}

void UcxRail::signal(int s, int peer, int index) { count(s, peer, index); }

bool UcxRail::arrived(int s, int peer, int index, uint64_t until) {
  return line(s, peer).count[index].load(std::memory_order_acquire) >=
         (slots_[s].call << count_bits | until);
}

void UcxRail::poll(Slot& slot) {
  const auto done = [&](auto& what) {
    return worker_->test(*remotes_[static_cast<size_t>(what.rank)].peer, what.request);
  };
  while (!slot.sending.empty() && done(slot.sending.front())) {
    slot.in_flight_bytes -= slot.sending.front().bytes;
    slot.sending.pop_front();
    slot.complete++;
  }
  while (!slot.notes.empty() && done(slot.notes.front())) slot.notes.pop_front();
}

size_t UcxRail::puts_complete(int s) {
  poll(slots_[s]);
  return slots_[s].complete;
}

void UcxRail::check_peers() const {
  if (!worker_->failed()) return;
  for (size_t r = 0; r < remotes_.size(); r++)
    if (const UcxPeer* peer = remotes_[r].peer; peer && peer->fault != UCS_OK)
      throw Error(Kind::peer,
                  "the connection to rank {} is lost (UCX: {}); that rank, its host or the network "
                  "is gone: end the job",
                  topology_.comm_rank(static_cast<int>(r)),
                  ucs_status_string(static_cast<ucs_status_t>(peer->fault.load())));
}

void UcxRail::progress(int s) {
  worker_->progress();
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
      count(s, c.rank, index_count);
      c.acknowledged = true;
    }
    all &= !c.opened || c.acknowledged;
    all &= !c.used || arrived(s, c.rank, index_count, 1);
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

// Peers that go on may still write to the board, and UCX read what it has not sent.
void UcxRail::abandon() {
  never_free(memory_);
  never_free(registered_);
  for (Slot& slot : slots_) {
    never_free_value(std::move(slot.notes));
    slot = Slot();
  }
}

}  // namespace tide
