// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace tide_test {

namespace {

template <class T>
T read(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// To p significant bits with the smallest normal exponent e_min, ties to even; too large a value
// becomes infinite.
double rounded(double v, int p, int e_min, double largest) {
  if (v == 0 || !std::isfinite(v)) return v;
  const int quantum = std::max(std::ilogb(v), e_min) - (p - 1);
  const double r = std::ldexp(std::nearbyint(std::ldexp(v, -quantum)), quantum);
  if (std::fabs(r) > largest) return std::copysign(std::numeric_limits<double>::infinity(), v);
  return std::copysign(r, v);
}

uint16_t bf16_bits(double v) {
  if (std::isnan(v)) return 0x7FC0;
  const float f = static_cast<float>(rounded(v, 8, -126, 0x1.FEp127));
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(f) >> 16);
}

uint16_t fp16_bits(double v) {
  const uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isnan(v)) return 0x7E00;
  v = std::fabs(rounded(v, 11, -14, 65504.0));
  if (std::isinf(v)) return sign | 0x7C00;
  if (v < 0x1p-14) return sign | static_cast<uint16_t>(std::ldexp(v, 24));
  const int e = std::ilogb(v);
  return sign | static_cast<uint16_t>((e + 15) << 10) |
         static_cast<uint16_t>(std::ldexp(v, 10 - e) - 1024);
}

double fp16_value(uint16_t bits) {
  const int e = bits >> 10 & 31, m = bits & 1023;
  double v = e == 0 ? std::ldexp(m, -24) : std::ldexp(1024 + m, e - 25);
  if (e == 31)
    v = m ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  return bits & 0x8000 ? -v : v;
}

template <class T>
T sum_of(const Team& team, const std::vector<double>& x, bool by_rank) {
  T total = 0;
  bool first_node = true;
  if (by_rank) {
    total = static_cast<T>(x[0]);
    for (size_t r = 1; r < x.size(); ++r) total = total + static_cast<T>(x[r]);
    return total;
  }
  for (const auto& ranks : team.members) {
    T partial = static_cast<T>(x[static_cast<size_t>(ranks[0])]);
    for (size_t l = 1; l < ranks.size(); ++l)
      partial = partial + static_cast<T>(x[static_cast<size_t>(ranks[l])]);
    total = first_node ? partial : total + partial;
    first_node = false;
  }
  return total;
}

template <class T>
double reduce_in(const Team& team, const std::vector<double>& x, const Arithmetic& a, double old) {
  T t = sum_of<T>(team, x, a.by_rank);
  if (a.op == MPIX_TIDE_AVG) t = t / static_cast<T>(team.size);
  t = t * static_cast<T>(a.scale);
  if (a.accumulate) t = static_cast<T>(old) + t;
  return static_cast<double>(t);
}

}  // namespace

size_t size_of(int dtype) {
  switch (dtype) {
    case MPIX_TIDE_BF16:
    case MPIX_TIDE_FP16:
      return 2;
    case MPIX_TIDE_FP32:
      return 4;
    case MPIX_TIDE_FP64:
      return 8;
    case MPIX_TIDE_UINT8:
      return 1;
  }
  throw std::logic_error("no such dtype");
}

std::string name_of_dtype(int dtype) {
  static const char* names[] = {"0", "BF16", "FP16", "FP32", "FP64", "UINT8"};
  return dtype >= 0 && dtype < 6 ? names[dtype] : dtype == MPIX_TIDE_NOGRAD ? "NOGRAD" : "?";
}

double load(int dtype, const void* at) {
  switch (dtype) {
    case MPIX_TIDE_BF16:
      return std::bit_cast<float>(static_cast<uint32_t>(read<uint16_t>(at)) << 16);
    case MPIX_TIDE_FP16:
      return fp16_value(read<uint16_t>(at));
    case MPIX_TIDE_FP32:
      return read<float>(at);
    case MPIX_TIDE_FP64:
      return read<double>(at);
    default:
      return read<uint8_t>(at);
  }
}

void store(int dtype, void* at, double value) {
  const uint16_t half = dtype == MPIX_TIDE_BF16   ? bf16_bits(value)
                        : dtype == MPIX_TIDE_FP16 ? fp16_bits(value)
                                                  : 0;
  const float single = static_cast<float>(value);
  const auto byte = static_cast<uint8_t>(dtype == MPIX_TIDE_UINT8 ? value : 0);
  switch (dtype) {
    case MPIX_TIDE_BF16:
    case MPIX_TIDE_FP16:
      std::memcpy(at, &half, 2);
      break;
    case MPIX_TIDE_FP32:
      std::memcpy(at, &single, 4);
      break;
    case MPIX_TIDE_FP64:
      std::memcpy(at, &value, 8);
      break;
    default:
      std::memcpy(at, &byte, 1);
  }
}

bool same_value(int dtype, const void* a, const void* b) {
  if (std::memcmp(a, b, size_of(dtype)) == 0) return true;
  return dtype != MPIX_TIDE_UINT8 && std::isnan(load(dtype, a)) && std::isnan(load(dtype, b));
}

std::string show(int dtype, const void* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, size_of(dtype));
  char text[64];
  std::snprintf(text, sizeof text, "%.9g (0x%llx)", load(dtype, at),
                static_cast<unsigned long long>(bits));
  return text;
}

bool sums_in_double(int grad_dtype, int out_dtype) {
  return grad_dtype == MPIX_TIDE_FP64 || out_dtype == MPIX_TIDE_FP64;
}

double reduce(const Team& team, const std::vector<double>& x, const Arithmetic& a, double old,
              bool in_double) {
  return in_double ? reduce_in<double>(team, x, a, old) : reduce_in<float>(team, x, a, old);
}

uint64_t mix(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  uint64_t h = 0x9E3779B97F4A7C15u;
  for (uint64_t v : {a, b, c, d}) {
    h = (h ^ v) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 29) * 0x94D049BB133111EBu;
    h ^= h >> 32;
  }
  return h;
}

double small_integers(int r, int p, size_t i) {
  return static_cast<double>((7 * i + 13 * static_cast<size_t>(p) + 3 * static_cast<size_t>(r)) %
                             31) -
         15;
}

double rough(int r, int p, size_t i) {
  const uint64_t h = mix(static_cast<uint64_t>(r), static_cast<uint64_t>(p), i);
  const double mantissa = 1.0 + static_cast<double>(h & 0xFFFFF) / 0x100000;
  return std::ldexp(h >> 40 & 1 ? -mantissa : mantissa, static_cast<int>(h >> 48 & 15) - 8);
}

void gather_bits(int dtype, int p, size_t i, uint64_t salt, void* at) {
  uint64_t bits = (40503 * i + 13 * static_cast<size_t>(p) + 1) % 65536;
  if (size_of(dtype) != 2) bits = mix(bits, i, static_cast<uint64_t>(p));
  if (salt) bits ^= mix(salt, i, static_cast<uint64_t>(p));
  std::memcpy(at, &bits, size_of(dtype));  // little-endian, as every machine that Tide runs on
}

double gather_value(int p, size_t i, uint64_t salt) {
  static const double special[] = {0.0,
                                   -0.0,
                                   1.0,
                                   1.00390625,
                                   1.01171875,
                                   0x1p-133,
                                   0x1p-134,
                                   0x1.8p-134,
                                   -0x1.8p-133,
                                   INFINITY,
                                   -INFINITY,
                                   NAN,
                                   3.3895313892515355e38,
                                   3.4e38,
                                   1e39,
                                   65504.0,
                                   65519.9,
                                   65520.0,
                                   0x1p-24,
                                   0x1p-25,
                                   0x1.000002p-25,
                                   1.00048828125,
                                   1.00146484375,
                                   1e-300,
                                   0x1p-149,
                                   0x1p-150,
                                   0x1.8p-149,
                                   1.0039062500000002,
                                   1.0039062499999998,
                                   1.00000005960464478};
  const size_t many = sizeof special / sizeof *special;
  const uint64_t h = mix(salt, i, static_cast<uint64_t>(p), 7);
  if (h % 3 == 0) return special[(h >> 8) % many];
  const double mantissa = 1.0 + std::ldexp(static_cast<double>(h >> 12), -52);
  return std::ldexp(h & 1 ? -mantissa : mantissa, static_cast<int>(h >> 3 & 63) - 32);
}

}  // namespace tide_test
