// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Vectors of a fixed number of lanes, and the exact conversions between the four float types.
// Compiled once for each instruction set: all names are local to the including file, and no header
// with inline functions of its own (the intrinsics are forced inline) is included, so that no wide
// code can be linked into the rest of the library.
#pragma once
#include <cstddef>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define TIDE_INLINE __attribute__((always_inline)) inline

namespace tide {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

struct Bf16 {
  uint16_t bits;
};
struct Fp16 {
  uint16_t bits;
};

template <class T, int lanes>
struct VecOf {
  typedef T type __attribute__((vector_size(sizeof(T) * lanes)));
};
template <class T, int lanes>
using Vec = typename VecOf<T, lanes>::type;

template <class To, class From>
TIDE_INLINE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

// gcc 12 takes several steps for these two conversions where the processor has one.
template <int L>
TIDE_INLINE Vec<uint32_t, L> zero_extended(Vec<uint16_t, L> h) {
#if defined(__AVX512F__)
  if constexpr (L == 16)
    return bits_as<Vec<uint32_t, L>>(_mm512_cvtepu16_epi32(bits_as<__m256i>(h)));
#endif
#if defined(__AVX2__)
  if constexpr (L == 8)
    return bits_as<Vec<uint32_t, L>>(_mm256_cvtepu16_epi32(bits_as<__m128i>(h)));
#endif
  return __builtin_convertvector(h, Vec<uint32_t, L>);
}
template <int L>
TIDE_INLINE Vec<uint16_t, L> low_halves(Vec<uint32_t, L> u) {  // of values below 65,536
#if defined(__AVX512F__)
  if constexpr (L == 16)
    return bits_as<Vec<uint16_t, L>>(_mm512_cvtepi32_epi16(bits_as<__m512i>(u)));
#endif
#if defined(__AVX2__)
  if constexpr (L == 8) {
    auto v = bits_as<__m256i>(u);
    return bits_as<Vec<uint16_t, L>>(
        _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
  }
#endif
  return __builtin_convertvector(u, Vec<uint16_t, L>);
}

template <int L>
TIDE_INLINE Vec<float, L> fp32_of_bf16(Vec<uint16_t, L> h) {
  return bits_as<Vec<float, L>>(zero_extended<L>(h) << 16);
}

template <int L>
TIDE_INLINE Vec<uint16_t, L> bf16_of_fp32(Vec<float, L> f) {
  auto u = bits_as<Vec<uint32_t, L>>(f);
  auto rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
  auto quiet = u >> 16 | 0x40;  // adding to a NaN's bits could carry into infinity or the sign
  return low_halves<L>((u & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

template <int L>
TIDE_INLINE Vec<float, L> fp32_of_fp16(Vec<uint16_t, L> h) {
#if defined(__AVX512F__)
  if constexpr (L == 16) return bits_as<Vec<float, L>>(_mm512_cvtph_ps(bits_as<__m256i>(h)));
#endif
#if defined(__F16C__)
  if constexpr (L == 8) return bits_as<Vec<float, L>>(_mm256_cvtph_ps(bits_as<__m128i>(h)));
#endif
  auto wide = zero_extended<L>(h);
  auto magnitude = (wide & 0x7fff) << 13;
  // Exact for normal and subnormal numbers: 2^112 moves the exponent bias from 15 to 127.
  auto finite = bits_as<Vec<uint32_t, L>>(bits_as<Vec<float, L>>(magnitude) * 0x1p112f);
  auto quiet = magnitude > 0x0f800000 ? magnitude | 0x7fc00000 : magnitude | 0x7f800000;
  return bits_as<Vec<float, L>>((magnitude >= 0x0f800000 ? quiet : finite) | (wide & 0x8000) << 16);
}

template <int L>
TIDE_INLINE Vec<uint16_t, L> fp16_of_fp32(Vec<float, L> f) {
#if defined(__AVX512F__)
  if constexpr (L == 16)
    return bits_as<Vec<uint16_t, L>>(
        _mm512_cvtps_ph(bits_as<__m512>(f), _MM_FROUND_TO_NEAREST_INT));
#endif
#if defined(__F16C__)
  if constexpr (L == 8)
    return bits_as<Vec<uint16_t, L>>(
        _mm256_cvtps_ph(bits_as<__m256>(f), _MM_FROUND_TO_NEAREST_INT));
#endif
  auto u = bits_as<Vec<uint32_t, L>>(f);
  auto magnitude = u & 0x7fffffff;
  auto normal = ((magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13) - (112 << 10);
  // Below 2^-14: the last bit of 0.5 + x weighs 2^-24, fp16's smallest step, so this addition is
  // the rounding.
  auto small = bits_as<Vec<uint32_t, L>>(bits_as<Vec<float, L>>(magnitude) + 0.5f) - 0x3f000000;
  auto finite = magnitude < 0x38800000 ? small : normal;
  auto infinite =
      magnitude > 0x7f800000 ? (magnitude >> 13 & 0x3ff) | 0x7e00 : magnitude * 0 + 0x7c00;
  return low_halves<L>((magnitude >= 0x47800000 ? infinite : finite) | (u >> 16 & 0x8000));
}

// To fp32 with the last bit set where inexact ("to odd"): rounding that to 8 or 11 bits equals
// rounding once.
template <int L>
TIDE_INLINE Vec<float, L> odd_fp32_of_fp64(Vec<double, L> d) {
  typedef Vec<uint64_t, L> Wide;
  typedef Vec<uint32_t, L> Bits;
  auto nearest = __builtin_convertvector(d, Vec<float, L>);
  auto back = bits_as<Wide>(__builtin_convertvector(nearest, Vec<double, L>));
  auto wide = bits_as<Wide>(d);
  auto mask = [](auto m) { return bits_as<Bits>(__builtin_convertvector(m, Vec<int32_t, L>)); };
  Bits away = mask((back & ~(uint64_t{1} << 63)) >
                   (wide & ~(uint64_t{1} << 63)));  // NaN stays NaN with or without
  Bits inexact = mask(back != wide);
  Bits is_nan = mask(d != d);
  auto u = bits_as<Bits>(nearest);
  return bits_as<Vec<float, L>>(is_nan ? u : (u + away) | (inexact & 1));  // away is -1 or 0
}

// Conversion in registers.  In, Out: Bf16, Fp16, float or double; Acc: float or double.
template <class T>
struct StorageOf {
  using type = T;
};
template <>
struct StorageOf<Bf16> {
  using type = uint16_t;
};
template <>
struct StorageOf<Fp16> {
  using type = uint16_t;
};
template <class T>
using Storage = typename StorageOf<T>::type;
template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;

template <class In, class Acc, int L>
TIDE_INLINE Vec<Acc, L> widened(Vec<Storage<In>, L> v) {
  if constexpr (same<In, Acc>)
    return v;
  else if constexpr (same<In, Bf16>)
    return widened<float, Acc, L>(fp32_of_bf16<L>(v));
  else if constexpr (same<In, Fp16>)
    return widened<float, Acc, L>(fp32_of_fp16<L>(v));
  else
    return __builtin_convertvector(v, Vec<Acc, L>);
}

template <class Acc, class Out, int L>
TIDE_INLINE Vec<Storage<Out>, L> rounded_to(Vec<Acc, L> v) {
  if constexpr (same<Acc, Out>)
    return v;
  else if constexpr (same<Out, float> || same<Out, double>)
    return __builtin_convertvector(v, Vec<Out, L>);
  else if constexpr (same<Acc, double>)
    return rounded_to<float, Out, L>(odd_fp32_of_fp64<L>(v));
  else if constexpr (same<Out, Bf16>)
    return bf16_of_fp32<L>(v);
  else
    return fp16_of_fp32<L>(v);
}

// Memory: no alignment is assumed beyond what streamed() states.
template <class V>
TIDE_INLINE V loaded(const void* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class V>
TIDE_INLINE void store(void* to, V v) {
  __builtin_memcpy(to, &v, sizeof v);
}

template <class V>
TIDE_INLINE void stream(void* to, V v) {  // to: aligned to the vector, or to 64 bytes
#if defined(__x86_64__)
  if constexpr (sizeof(V) >= 16) {
    constexpr size_t piece = sizeof(V) < vector_bytes ? sizeof(V) : vector_bytes;
    for (size_t at = 0; at < sizeof(V); at += piece) {
      char* dst = static_cast<char*>(to) + at;
      const char* src = reinterpret_cast<const char*>(&v) + at;
      if constexpr (piece == 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(dst), loaded<__m128i>(src));
#if defined(__AVX2__)
      if constexpr (piece == 32)
        _mm256_stream_si256(reinterpret_cast<__m256i*>(dst), loaded<__m256i>(src));
#endif
#if defined(__AVX512F__)
      if constexpr (piece == 64)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(dst), loaded<__m512i>(src));
#endif
    }
    return;
  }
#endif
  store(to, v);
}

}  // namespace
}  // namespace tide
