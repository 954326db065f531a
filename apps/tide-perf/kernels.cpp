// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "dtypes.hpp"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define PERF_INLINE inline __attribute__((always_inline))

namespace perf {
namespace {

constexpr std::size_t tile_elems =
    1024;  // 4 or 8 KiB of sums stay in L1 while the slices stream by

template <class Acc>
PERF_INLINE Acc load(Bf16 x) {
  return std::bit_cast<float>(std::uint32_t{x.bits} << 16);
}
template <class Acc>
PERF_INLINE Acc load(Fp16 x) {
  return static_cast<Acc>(static_cast<float>(x));
}
template <class Acc>
PERF_INLINE Acc load(float x) {
  return static_cast<Acc>(x);
}
template <class Acc>
PERF_INLINE Acc load(double x) {
  return static_cast<Acc>(x);
}
template <class Acc>
PERF_INLINE void store(Bf16& dst, Acc x) {
  dst = to_bf16(static_cast<float>(x));
}
template <class Acc>
PERF_INLINE void store(Fp16& dst, Acc x) {
  dst = static_cast<Fp16>(static_cast<float>(x));
}
template <class Acc>
PERF_INLINE void store(float& dst, Acc x) {
  dst = static_cast<float>(x);
}
template <class Acc>
PERF_INLINE void store(double& dst, Acc x) {
  dst = static_cast<double>(x);
}

// Up to four slices a pass: the sums are read and written a quarter as often as with one.
template <int k, bool first, class In, class Acc>
PERF_INLINE void add(Acc* __restrict__ acc, const In* const* src, std::size_t at, std::size_t n) {
  const In* __restrict__ a = src[0] + at;
  const In* __restrict__ b = k > 1 ? src[1] + at : a;
  const In* __restrict__ c = k > 2 ? src[2] + at : a;
  const In* __restrict__ d = k > 3 ? src[3] + at : a;
  for (std::size_t i = 0; i < n; ++i) {
    Acc t = first ? load<Acc>(a[i]) : acc[i] + load<Acc>(a[i]);
    if constexpr (k > 1) t += load<Acc>(b[i]);
    if constexpr (k > 2) t += load<Acc>(c[i]);
    if constexpr (k > 3) t += load<Acc>(d[i]);
    acc[i] = t;
  }
}

template <bool first, class In, class Acc>
PERF_INLINE void add_up_to_four(Acc* acc, const In* const* src, int k, std::size_t at,
                                std::size_t n) {
  switch (k) {
    case 1:
      return add<1, first>(acc, src, at, n);
    case 2:
      return add<2, first>(acc, src, at, n);
    case 3:
      return add<3, first>(acc, src, at, n);
    default:
      return add<4, first>(acc, src, at, n);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void stream_avx2(char* dst, const char* src, std::size_t bytes) {
  const std::size_t lead = std::min(bytes, (64 - reinterpret_cast<std::uintptr_t>(dst) % 64) % 64);
  std::memcpy(dst, src, lead);
  std::size_t at = lead;
  for (; at + 128 <= bytes; at += 128) {
    __m256i v[4];
    for (int k = 0; k < 4; ++k)
      v[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + at + 32 * k));
    for (int k = 0; k < 4; ++k)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + at + 32 * k), v[k]);
  }
  std::memcpy(dst + at, src + at, bytes - at);
}
#endif

bool have_avx2() {
#if defined(__x86_64__)
  static const bool have = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  return have;
#else
  return false;
#endif
}

// Streaming stores are not ordered with others: fence() once, after the last block.
void stream_block(void* dst, const void* src, std::size_t bytes) {
#if defined(__x86_64__)
  if (have_avx2())
    return stream_avx2(static_cast<char*>(dst), static_cast<const char*>(src), bytes);
#endif
  std::memcpy(dst, src, bytes);
}

void fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <class In, class Acc, class Out>
PERF_INLINE void sum_body(Out* dst, const In* const* src, int nsrc, std::size_t elems, Store how) {
  alignas(64) Acc tile[tile_elems];
  alignas(64) Out rounded[tile_elems];
  for (std::size_t at = 0; at < elems; at += tile_elems) {
    const std::size_t n = std::min(tile_elems, elems - at);
    Acc* acc = tile;
    if constexpr (std::is_same_v<Acc, Out>)
      if (how == Store::cached) acc = dst + at;
    add_up_to_four<true>(acc, src, std::min(nsrc, 4), at, n);
    for (int k = 4; k < nsrc; k += 4)
      add_up_to_four<false>(acc, src + k, std::min(nsrc - k, 4), at, n);
    if constexpr (std::is_same_v<Acc, Out>) {
      if (how == Store::streaming) stream_block(dst + at, tile, n * sizeof(Out));
    } else {
      Out* out = how == Store::cached ? dst + at : rounded;
      for (std::size_t i = 0; i < n; ++i) store(out[i], tile[i]);
      if (how == Store::streaming) stream_block(dst + at, rounded, n * sizeof(Out));
    }
  }
}

#if defined(__x86_64__)
template <class In, class Acc, class Out>
__attribute__((target("avx2,f16c"))) void sum_avx2(Out* dst, const In* const* src, int nsrc,
                                                   std::size_t elems, Store how) {
  sum_body<In, Acc, Out>(dst, src, nsrc, elems, how);
}

#endif

template <class In, class Acc, class Out>
void sum_typed(void* dst, const void* const* src, int nsrc, std::size_t elems, Store how) {
  auto* out = static_cast<Out*>(dst);
  auto in = reinterpret_cast<const In* const*>(src);
#if defined(__x86_64__)
  // fp64 sums of narrower types occur in mixed lists only.
  if constexpr (std::is_same_v<Acc, float> || std::is_same_v<In, double>)
    if (have_avx2()) return sum_avx2<In, Acc, Out>(out, in, nsrc, elems, how);
#endif
  sum_body<In, Acc, Out>(out, in, nsrc, elems, how);
}

// Calls f with a value of the C++ type of `dtype`.
template <class F>
void with_type(int dtype, F f) {
  switch (dtype) {
    case MPIX_TIDE_BF16:
      return f(Bf16{});
    case MPIX_TIDE_FP16:
      return f(Fp16{});
    case MPIX_TIDE_FP32:
      return f(float{});
    case MPIX_TIDE_FP64:
      return f(double{});
    default:
      throw std::invalid_argument("sum_slices: no sum of this dtype");
  }
}

}  // namespace

void copy_bytes(void* dst, const void* src, std::size_t bytes, Store store) {
  if (bytes == 0) return;
  if (store == Store::cached) {
    std::memcpy(dst, src, bytes);
  } else {
    stream_block(dst, src, bytes);
    fence();
  }
}

void sum_slices(void* dst, int out_dtype, const void* const* src, int nsrc, int dtype,
                int acc_dtype, std::size_t elems, Store store) {
  if (elems == 0) return;
  with_type(dtype, [&]<class In>(In) {
    with_type(out_dtype, [&]<class Out>(Out) {
      if (acc_dtype == MPIX_TIDE_FP64)
        sum_typed<In, double, Out>(dst, src, nsrc, elems, store);
      else if constexpr (!std::is_same_v<In, double> && !std::is_same_v<Out, double>)
        sum_typed<In, float, Out>(dst, src, nsrc, elems, store);
      else
        throw std::invalid_argument("sum_slices: fp64 is summed in fp64");
    });
  });
  if (store == Store::streaming) fence();
}

}  // namespace perf
