// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/rail/ucx_path.hpp"

#include <cstring>

#include "core/error.hpp"

namespace tide {

static void append(Blob& to, const void* from, size_t bytes) {
  if (!bytes) return;
  const size_t at = to.size();
  to.resize(at + bytes);
  std::memcpy(to.data() + at, from, bytes);
}

UcxPath::UcxPath(std::shared_ptr<UcxWorker> worker, size_t ranks, void* board, size_t board_bytes)
    : worker_(std::move(worker)),
      board_(reinterpret_cast<uint64_t>(board)),
      board_memory_(worker_, board, board_bytes),
      others_(ranks) {}

UcxPath::~UcxPath() {
  for (const Other& other : others_)
    for (ucp_rkey_h key : other.open)
      if (key) worker_->release(key);
}

Blob UcxPath::introduction() const {
  const uint64_t head[] = {board_, board_memory_.key().size()};
  Blob all;
  append(all, head, sizeof head);
  append(all, board_memory_.key().data(), board_memory_.key().size());
  append(all, worker_->address().data(), worker_->address().size());
  return all;
}

void UcxPath::meet(size_t rank, uint64_t process, const Blob& introduction) {
  uint64_t head[2] = {};
  const size_t size = introduction.size();
  if (size >= sizeof head) std::memcpy(head, introduction.data(), sizeof head);
  if (size < sizeof head || head[1] > size - sizeof head)
    throw Error(Kind::peer, "a rank told no UCX address; report this");
  Other& other = others_[rank];
  other.process = process;
  other.board = head[0];
  other.keys.assign(1, {});
  other.open = {nullptr};
  append(other.keys[0], introduction.data() + sizeof head, head[1]);
  append(other.address, introduction.data() + sizeof head + head[1], size - sizeof head - head[1]);
}

std::shared_ptr<UcxMemory> UcxPath::expose(void* base, size_t bytes) {
  auto memory = bytes ? std::make_shared<UcxMemory>(worker_, base, bytes) : nullptr;
  exposed_.push_back(memory);
  return memory;
}

Blob UcxPath::last_key() const {
  const auto last = exposed_.back().lock();
  return last ? last->key() : Blob();
}

void UcxPath::learn(size_t rank, const Blob& key) {
  others_[rank].keys.push_back(key);
  others_[rank].open.push_back(nullptr);
}

uint64_t UcxPath::number_of(const void* mine) const {
  for (size_t k = exposed_.size(); k > 0; k--)
    if (const auto memory = exposed_[k - 1].lock(); memory && memory->holds(mine)) return k;
  return 0;
}

ucp_rkey_h UcxPath::key(Other& other, uint64_t memory) {
  if (memory >= other.keys.size() || other.keys[memory].empty())
    throw Error(Kind::peer, "a peer opened memory number {}, which it has not exposed", memory);
  if (!other.open[memory]) other.open[memory] = worker_->unpack(*other.peer, other.keys[memory]);
  return other.open[memory];
}

UcxPeer& UcxPath::peer(Other& other) {
  if (!other.peer) other.peer = &worker_->connect(other.process, other.address);
  return *other.peer;
}

UcxRequest UcxPath::announce(size_t rank, Announcement& head, const void* data, size_t bytes) {
  Other& other = others_[rank];
  head.word_at += other.board;
  head.data_at += other.board;
  return worker_->announce(peer(other), head, data, bytes);
}

UcxRequest UcxPath::send(size_t rank, Announcement& head, const void* data, size_t bytes) {
  Other& other = others_[rank];
  if (head.word_at) head.word_at += other.board;
  return worker_->announce(peer(other), head, data, bytes);
}

UcxRequest UcxPath::put(size_t rank, const void* source, size_t bytes, uint64_t memory,
                        uint64_t to) {
  Other& other = others_[rank];
  UcxPeer& to_peer = peer(other);
  const uint64_t number = number_of(source);
  const auto from = number ? exposed_[number - 1].lock() : nullptr;
  return worker_->put(to_peer, source, bytes, to, key(other, memory), from.get());
}

int UcxPath::failed(const char*& why) const {
  if (!worker_->failed()) return -1;
  for (size_t r = 0; r < others_.size(); r++)
    if (const UcxPeer* peer = others_[r].peer; peer && peer->fault != UCS_OK) {
      why = ucs_status_string(static_cast<ucs_status_t>(peer->fault.load()));
      return static_cast<int>(r);
    }
  return -1;
}

}  // namespace tide
