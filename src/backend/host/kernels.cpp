// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/host/kernels.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>
#ifdef TIDE_WIDE_KERNELS
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "backend/host/float_mode.hpp"
#include "backend/host/kernel_table.hpp"

namespace tide {
namespace {

constexpr size_t stream_min_bytes =
    4096;  // shorter copies: the alignment costs more than streaming gains
// From here glibc's memcpy uses "rep movsb" where the processor advertises it: 3 GB/s instead of 40
// on Zen 3 when source and destination are aligned differently, as shards usually are.
constexpr size_t memcpy_max_bytes = 2048;
constexpr size_t copy_block_bytes = 64 << 10;
constexpr int pass_rows = 16;         // read side by side; more would outrun the prefetchers
constexpr size_t block_elems = 2048;  // two blocks of fp64 partial sums fill an L1 cache

#ifdef TIDE_WIDE_KERNELS
bool has_f16c() {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

const KernelTable* table_of(Isa isa) {  // null where the processor or the build lacks it
  if (isa == Isa::plain) return &plain_kernels;
#ifdef TIDE_WIDE_KERNELS
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !has_f16c()) return nullptr;
  if (isa == Isa::avx2) return &avx2_kernels;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return &avx512_kernels;
#endif
  return nullptr;
}

std::atomic<const KernelTable*> table_in_use{nullptr};

const KernelTable& table() {
  const KernelTable* t = table_in_use.load(std::memory_order_relaxed);
  if (t) return *t;
  for (Isa isa : {Isa::avx512, Isa::avx2, Isa::plain})
    if ((t = table_of(isa))) break;
  table_in_use.store(t, std::memory_order_relaxed);
  return *t;
}

auto kernel_of(Dtype in, Dtype acc, Dtype out) {
  auto index = [](Dtype d) { return static_cast<unsigned>(d) - 1; };
  void (*kernel)(const SumPass&) = nullptr;
  if (index(in) < 4 && index(out) < 4 && (acc == Dtype::fp32 || acc == Dtype::fp64))
    kernel = table().sum[index(in)][acc == Dtype::fp64][index(out)];
  if (!kernel)
    throw std::logic_error("tide: sum or convert of a dtype that has no arithmetic; use copy");
  return kernel;
}

const void* moved(const void* p, size_t bytes) {
  return p ? static_cast<const char*>(p) + bytes : nullptr;
}

// Many rows: a block at a time, eight rows a pass, the running sums in the L1 cache.
class Blocks {
 public:
  explicit Blocks(const SumRows& s)
      : s_(s), to_dst_(kernel_of(s.in, s.acc, s.out)), to_acc_(kernel_of(s.in, s.acc, s.acc)) {}

  void run() {
    for (size_t at = 0; at < s_.elems; at += block_elems)
      block(at, std::min(block_elems, s_.elems - at));
  }

 private:
  static constexpr int chunk_rows = 8;

  void block(size_t at, size_t elems) {
    const void* base = moved(s_.base, at * bytes_of(s_.acc));
    int last = s_.groups - 1;
    while (last > 0 && s_.group_sizes[last] == 0) --last;
    const void* const* row = s_.rows;
    for (int g = 0; g <= last; ++g) {
      const void* front = nullptr;
      for (int left = s_.group_sizes[g]; left > 0;) {
        int n = std::min(left, chunk_rows);
        const void* rows[chunk_rows];
        for (int k = 0; k < n; ++k) rows[k] = moved(*row++, at * bytes_of(s_.in));
        left -= n;
        SumPass pass{rows,    &n,    1,    front, left ? nullptr : base, left ? partial_ : total_,
                     nullptr, elems, false};
        if (g == last && !left) {
          pass.dst = static_cast<char*>(s_.dst) + at * bytes_of(s_.out);
          pass.final = s_.final;
          pass.stream = s_.stream;
          to_dst_(pass);
        } else {
          to_acc_(pass);
        }
        front = partial_;
      }
      if (s_.group_sizes[g]) base = total_;
    }
  }

  const SumRows& s_;
  void (*to_dst_)(const SumPass&);
  void (*to_acc_)(const SumPass&);
  alignas(64) double partial_[block_elems];
  alignas(64) double total_[block_elems];
};

}  // namespace

size_t bytes_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
    case Dtype::fp16:
      return 2;
    case Dtype::fp32:
      return 4;
    case Dtype::fp64:
      return 8;
    case Dtype::uint8:
      return 1;
  }
  return 0;
}

void sum(const SumRows& s) {
  FloatMode mode;
  int rows = 0;
  for (int g = 0; g < s.groups; ++g) rows += s.group_sizes[g];
  if (rows > pass_rows) return Blocks(s).run();
  kernel_of(s.in, s.acc, s.out)(
      {s.rows, s.group_sizes, s.groups, nullptr, s.base, s.dst, s.final, s.elems, s.stream});
}

void convert(void* dst, Dtype to, const void* src, Dtype from, size_t elems, bool stream) {
  if (from == to) return copy(dst, src, elems * bytes_of(to), stream);
  FloatMode mode;
  const int one = 1;
  Dtype acc = from == Dtype::fp64 || to == Dtype::fp64 ? Dtype::fp64 : Dtype::fp32;
  kernel_of(from, acc, to)({&src, &one, 1, nullptr, nullptr, dst, nullptr, elems, stream});
}

void copy(void* dst, const void* src, size_t bytes, bool stream) {
  if (dst == src || bytes == 0) return;
  if (bytes < memcpy_max_bytes)
    std::memcpy(dst, src, bytes);
  else
    table().copy[stream && bytes >= stream_min_bytes](dst, src, bytes);
}

void copy_to_all(void* const* dst, int count, const void* src, size_t bytes, bool stream) {
  for (size_t at = 0; at < bytes; at += copy_block_bytes)
    for (int k = 0; k < count; ++k)
      copy(static_cast<char*>(dst[k]) + at, moved(src, at), std::min(copy_block_bytes, bytes - at),
           stream);
}

void fence() {
#if defined(__x86_64__)
  _mm_sfence();
#else
  std::atomic_thread_fence(std::memory_order_release);
#endif
}

Isa isa() { return table().isa; }

bool force_isa(Isa isa) {
  const KernelTable* t = table_of(isa);
  if (t) table_in_use.store(t, std::memory_order_relaxed);
  return t != nullptr;
}

const char* name(Isa isa) {
  switch (isa) {
    case Isa::plain:
      return "plain";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
  }
  return "unknown";
}

}  // namespace tide
