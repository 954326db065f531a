// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What the kernels must compute, one element at a time and by other means: values as doubles,
// rounding by scaling to an integer and nearbyint, never by bit arithmetic.  And memory with a page
// at each end that faults.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backend/host/kernels.hpp"

namespace tide::test {

inline double half_value(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double v = exponent == 31 ? (fraction ? NAN : INFINITY)
             : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                            : std::ldexp(fraction, -24);
  return std::copysign(v, bits & 0x8000 ? -1.0 : 1.0);
}

inline double value_at(const void* p, Dtype type, size_t i) {
  auto at = [&](auto zero) {
    std::memcpy(&zero, static_cast<const char*>(p) + i * sizeof zero, sizeof zero);
    return zero;
  };
  switch (type) {
    case Dtype::bf16:
      return std::bit_cast<float>(uint32_t{at(uint16_t{})} << 16);
    case Dtype::fp16:
      return half_value(at(uint16_t{}));
    case Dtype::fp32:
      return at(float{});
    default:
      return at(double{});
  }
}

// v rounded once, to nearest even, to `digits` significant bits, no step below 2^min_exponent,
// infinite from 2^overflow on.
inline double nearest(double v, int digits, int min_exponent, int overflow) {
  if (v == 0 || !std::isfinite(v)) return v;
  int step = std::max(std::ilogb(v) - digits + 1, min_exponent);
  double r = std::ldexp(std::nearbyint(std::ldexp(v, -step)),
                        step);  // |v| < 2^970: both scalings are exact
  return std::fabs(r) >= std::ldexp(1, overflow) ? std::copysign(INFINITY, v) : std::copysign(r, v);
}

inline double rounded(double v, Dtype to) {
  if (std::fabs(v) > 0x1p200 && std::isfinite(v) && to != Dtype::fp64)
    return std::copysign(INFINITY, v);
  if (std::fabs(v) < 0x1p-200 && to != Dtype::fp64) return std::copysign(0.0, v);
  switch (to) {
    case Dtype::bf16:
      return nearest(v, 8, -133, 128);
    case Dtype::fp16:
      return nearest(v, 11, -24, 16);
    case Dtype::fp32:
      return nearest(v, 24, -149, 128);
    default:
      return v;
  }
}

// The element as its dtype says it, so that -0 and +0 differ; any NaN equals any NaN.
inline bool same_value(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

template <class T>
double sum_of(const SumRows& s, size_t i, double old) {
  bool begun = s.base != nullptr;
  T total = begun ? static_cast<T>(value_at(s.base, s.acc, i)) : T(-0.0);
  int row = 0;
  for (int g = 0; g < s.groups; ++g) {
    if (s.group_sizes[g] == 0) continue;
    T group = static_cast<T>(value_at(s.rows[row++], s.in, i));
    for (int k = 1; k < s.group_sizes[g]; ++k)
      group += static_cast<T>(value_at(s.rows[row++], s.in, i));
    total = begun ? total + group : group;
    begun = true;
  }
  if (s.final) {
    if (s.final->average) total /= static_cast<T>(s.final->ranks);
    total *= static_cast<T>(s.final->scale);
    if (s.final->accumulate) total = static_cast<T>(old) + total;
  }
  return rounded(static_cast<double>(total), s.out);
}

inline double reference_sum(const SumRows& s, size_t i, double old) {
  return s.acc == Dtype::fp64 ? sum_of<double>(s, i, old) : sum_of<float>(s, i, old);
}

// Pages between two that fault.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_((bytes + page - 1) / page * page) {
    map_ = static_cast<char*>(
        mmap(nullptr, bytes_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map_ == MAP_FAILED || mprotect(map_ + page, bytes_, PROT_READ | PROT_WRITE))
      throw std::bad_alloc();
  }
  ~Guarded() { munmap(map_, bytes_ + 2 * page); }
  Guarded(const Guarded&) = delete;
  char* first() { return map_ + page; }
  char* last(size_t bytes) {
    return map_ + page + bytes_ - bytes;
  }  // ends where the faulting page begins

 private:
  static constexpr size_t page = 4096;
  size_t bytes_;
  char* map_;
};

// A third any bits, a third ordinary numbers that round and cancel, a third special.
inline void fill(void* p, Dtype type, size_t elems, std::mt19937_64& rng) {
  for (size_t i = 0; i < elems; ++i) {
    uint64_t bits = rng();
    int kind = static_cast<int>(rng() % 6);
    double d = std::ldexp(static_cast<double>(static_cast<int64_t>(rng() % 4001) - 2000),
                          static_cast<int>(rng() % 9) - 4);
    static const double specials[] = {0.0,        -0.0,      INFINITY,  -INFINITY,      NAN,
                                      0x1p-149,   -0x1p-133, 0x1p-126,  65504,          65520,
                                      0x1p-24,    0x1p-25,   0x1.8p-25, 0x1.fffffep127, -0x1p-1074,
                                      0x1.ffp127, 1,         -1};
    if (kind == 5) d = specials[rng() % std::size(specials)];
    // fp64 a hair beside the middle of two bf16 or fp16 numbers: rounding twice would go wrong
    if (kind == 4)
      d = std::ldexp(static_cast<double>(513 + 2 * (rng() % 4096)),
                     static_cast<int>(rng() % 40) - 30) *
          (1 + static_cast<double>(static_cast<int>(rng() % 3) - 1) * 0x1p-45);
    char* to = static_cast<char*>(p) + i * bytes_of(type);
    if (kind >= 2) {
      float f = static_cast<float>(d);
      switch (type) {
        case Dtype::bf16:
          bits = std::bit_cast<uint32_t>(f) >> 16;
          break;
        case Dtype::fp16:
          bits = bits & 0x8fff;
          break;  // of modest size
        case Dtype::fp32:
          bits = std::bit_cast<uint32_t>(f);
          break;
        default:
          bits = std::bit_cast<uint64_t>(d);
      }
    }
    std::memcpy(to, &bits, bytes_of(type));
  }
}

}  // namespace tide::test
