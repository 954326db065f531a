// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gate.hpp"

#include <sys/mman.h>

#include <mutex>
#include <vector>

#include "core/error.hpp"

namespace tide {

struct alignas(64) Gate::Words {
  uint32_t open, inputs, over;
  uint32_t last;  // value of the last gate that used them
};

namespace {

struct Pool {
  std::mutex mutex;
  std::vector<void*> fresh, used;
};
Pool& pool() {  // outlives what static destructors free: streams may still wait
  static Pool* const kept = new Pool;
  return *kept;
}

// Some pages more, pinned for as long as the process lives.
void grow(std::vector<void*>& fresh, size_t each) {
  constexpr size_t bytes = 16384;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw Error(Kind::no_mem, "{} bytes for stream-ordered calls", bytes);
  try {
    static auto* const pins = new std::vector<std::shared_ptr<const void>>;
    pins->push_back(gpu::pin(at, bytes));
  } catch (...) {
    munmap(at, bytes);
    throw;
  }
  for (size_t k = bytes; k >= each; k -= each) fresh.push_back(static_cast<char*>(at) + k - each);
}

bool reached(const uint32_t* word, uint32_t value) {
  return static_cast<int32_t>(__atomic_load_n(word, __ATOMIC_ACQUIRE) - value) >= 0;
}

}  // namespace

// A graph's are set back, which no stream that still waits for used ones may see.
Gate::Words* Gate::take(Of of) {
  const std::lock_guard lock(pool().mutex);
  auto& from = of == Of::graph || pool().used.empty() ? pool().fresh : pool().used;
  if (from.empty()) grow(from, sizeof(Words));
  auto* words = static_cast<Words*>(from.back());
  from.pop_back();
  return words;
}

Gate::Gate(Of of) : of_(of), words_(take(of)), value_(++words_->last) {
  if (of_ == Of::graph) tell_over();
}

// A stream that has not come so far may write the word late: then nobody else may use it.
Gate::~Gate() {
  if (asked_ && !open()) return;
  tell_over();
  const std::lock_guard lock(pool().mutex);
  pool().used.push_back(words_);
}

void Gate::open_after(gpu::UserStream stream) {
  asked_ = of_ == Of::one_call;
  if (of_ == Of::graph) {
    hold(stream);
    gpu::write_after(stream, &words_->inputs, 0);
    gpu::write_after(stream, &words_->over, 0);
  }
  gpu::write_after(stream, &words_->open, value_);
}
void Gate::hold_for_inputs(gpu::UserStream stream) {
  gpu::hold_until(stream, &words_->inputs, value_);
}
void Gate::hold(gpu::UserStream stream) { gpu::hold_until(stream, &words_->over, value_); }

bool Gate::open() const { return of_ == Of::graph || reached(&words_->open, value_); }
bool Gate::waits() const { return __atomic_load_n(&words_->open, __ATOMIC_ACQUIRE) == value_; }
void Gate::let_in() { __atomic_store_n(&words_->open, 0, __ATOMIC_RELAXED); }
void Gate::tell_inputs_over() { __atomic_store_n(&words_->inputs, value_, __ATOMIC_RELEASE); }
void Gate::tell_over() {
  tell_inputs_over();
  __atomic_store_n(&words_->over, value_, __ATOMIC_RELEASE);
}

}  // namespace tide
