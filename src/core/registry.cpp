// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "core/error.hpp"
#include "core/memory.hpp"

namespace tide {

struct MemoryRegistry::State {
  struct Entry {
    std::shared_ptr<Segment> segment;
    bool announce_free;
  };
  mutable std::shared_mutex mutex;
  std::map<uintptr_t, Entry> by_base;  // what the user may pass
  std::unordered_map<SegmentId, std::shared_ptr<Segment>> own, attached;
  std::unordered_map<SegmentId, int> holds;
  std::unordered_map<SegmentId, Entry> late;  // freed by the user while it was held
  std::atomic<uint64_t> epoch{1}, freed_epoch{1};

  // The mark before the count: who sees the count moved finds the mark.
  void announce(const Entry& entry) {
    if (!entry.announce_free) return;
    entry.segment->mark_freed();
    freed_epoch.fetch_add(1, std::memory_order_release);
  }
};

// Memory that a call still needs is freed when the last hold goes: until then peers keep their
// mappings, and addresses in it are found.
struct MemoryRegistry::Hold {
  std::shared_ptr<State> state;
  std::shared_ptr<Segment> segment;
  ~Hold() {
    State::Entry entry;  // unmapped after the lock
    const std::unique_lock lock(state->mutex);
    const auto held = state->holds.find(segment->id());
    if (--held->second > 0) return;
    state->holds.erase(held);
    const auto freed = state->late.find(segment->id());
    if (freed == state->late.end()) return;
    entry = std::move(freed->second);
    state->late.erase(freed);
    state->own.erase(segment->id());
    state->epoch.fetch_add(1, std::memory_order_release);
    state->announce(entry);
  }
};

MemoryRegistry::MemoryRegistry() : state_(std::make_shared<State>()) {}

void MemoryRegistry::add(std::shared_ptr<Segment> segment, bool announce_free) {
  const auto base = reinterpret_cast<uintptr_t>(segment->base());
  std::unique_lock lock(state_->mutex);
  if (!state_->own.emplace(segment->id(), segment).second)
    throw Error(Kind::intern, "memory segment {:016x} was added twice", segment->id());
  state_->by_base[base] = {std::move(segment), announce_free};
  state_->epoch.fetch_add(1, std::memory_order_release);
}

void MemoryRegistry::attach(std::shared_ptr<Segment> peers) {
  std::shared_ptr<Segment> before;  // unmapped after the lock
  std::unique_lock lock(state_->mutex);
  before = std::exchange(state_->attached[peers->id()], peers);
  state_->epoch.fetch_add(1, std::memory_order_release);
  lock.unlock();
}

bool MemoryRegistry::remove(void* base) {
  State::Entry entry;  // unmapped after the lock: munmap of a large range takes its time
  std::unique_lock lock(state_->mutex);
  const auto found = state_->by_base.find(reinterpret_cast<uintptr_t>(base));
  if (found == state_->by_base.end()) return false;
  entry = std::move(found->second);
  state_->by_base.erase(found);
  state_->epoch.fetch_add(1, std::memory_order_release);
  if (state_->holds.count(entry.segment->id())) {
    const SegmentId id = entry.segment->id();
    state_->late[id] = std::move(entry);
    return true;
  }
  state_->own.erase(entry.segment->id());
  state_->announce(entry);
  lock.unlock();
  return true;
}

std::optional<MemoryRegistry::Found> MemoryRegistry::find(const void* address, size_t bytes) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  std::shared_lock lock(state_->mutex);
  auto next = state_->by_base.upper_bound(at);
  if (next == state_->by_base.begin()) return std::nullopt;
  const Segment& segment = *std::prev(next)->second.segment;
  const size_t offset = at - std::prev(next)->first;
  // In this form nothing wraps around.
  if (offset > segment.bytes() || bytes > segment.bytes() - offset) return std::nullopt;
  return Found{segment.id(), offset};
}

void* MemoryRegistry::base_of(SegmentId segment, size_t* bytes) const {
  std::shared_lock lock(state_->mutex);
  for (const auto* known : {&state_->own, &state_->attached})
    if (const auto found = known->find(segment); found != known->end()) {
      if (bytes) *bytes = found->second->bytes();
      return found->second->base();
    }
  return nullptr;
}

uint64_t MemoryRegistry::epoch() const { return state_->epoch.load(std::memory_order_acquire); }

uint64_t MemoryRegistry::freed_epoch() const {
  return state_->freed_epoch.load(std::memory_order_acquire);
}

void MemoryRegistry::drop_freed() {
  std::vector<std::shared_ptr<Segment>> dropped;  // unmapped after the lock
  std::unique_lock lock(state_->mutex);
  for (auto entry = state_->attached.begin(); entry != state_->attached.end();) {
    if (!entry->second->freed()) {
      ++entry;
      continue;
    }
    dropped.push_back(std::move(entry->second));
    entry = state_->attached.erase(entry);
  }
  if (!dropped.empty()) state_->epoch.fetch_add(1, std::memory_order_release);
  lock.unlock();
}

std::vector<std::shared_ptr<Segment>> MemoryRegistry::hold(
    const std::vector<SegmentId>& segments) const {
  std::vector<std::shared_ptr<Segment>> held;
  std::unique_lock lock(state_->mutex);
  for (const SegmentId id : segments)
    for (const auto* known : {&state_->own, &state_->attached})
      if (const auto found = known->find(id); found != known->end()) {
        state_->holds[id]++;
        Segment* const segment = found->second.get();
        held.emplace_back(std::shared_ptr<Hold>(new Hold{state_, found->second}), segment);
      }
  return held;
}

size_t MemoryRegistry::live() const {
  std::shared_lock lock(state_->mutex);
  return state_->by_base.size();
}

void MemoryRegistry::clear() {
  decltype(State::by_base) by_base;
  decltype(State::own) own, attached;
  decltype(State::late) late;
  std::unique_lock lock(state_->mutex);
  by_base.swap(state_->by_base);
  own.swap(state_->own);
  attached.swap(state_->attached);
  late.swap(state_->late);
  for (const auto& [base, entry] : by_base) state_->announce(entry);
  for (const auto& [id, entry] : late) state_->announce(entry);
  state_->epoch.fetch_add(1, std::memory_order_release);
  lock.unlock();
}

}  // namespace tide
