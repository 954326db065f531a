// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The loops themselves.  Included by kernels_plain.cpp, kernels_avx2.cpp and kernels_avx512.cpp,
// each compiled with its own flags and ending in its own table.  A tile of a few vectors is summed
// over all rows in registers, then stored: sources are read once, side by side, and nothing is
// written in between.
#pragma once
#include "backend/host/kernel_lanes.hpp"
#include "backend/host/kernel_table.hpp"

namespace tide {
namespace {

constexpr size_t line_bytes = 64;

// elems <= L: fewer than L touch only as many elements of memory.
template <class T, int L>
TIDE_INLINE Vec<T, L> loaded_part(const T* from, int elems) {
  typedef Vec<T, L> V;
  if (elems == L) return loaded<V>(from);
  T part[L] = {};
  for (int k = 0; k < elems; ++k) __builtin_memcpy(&part[k], from + k, sizeof(T));
  return loaded<V>(part);
}
template <class T, int L>
TIDE_INLINE void store_part(T* to, Vec<T, L> v, int elems) {
  if (elems == L) return store(to, v);
  T part[L];
  store(part, v);
  for (int k = 0; k < elems; ++k) __builtin_memcpy(to + k, &part[k], sizeof(T));
}

template <class In, class Acc, class Out>
struct Summing {
  static constexpr int L = vector_bytes / int{sizeof(Acc)};
  static constexpr int unroll = 4;
  static constexpr size_t step = size_t{L} * unroll;
  typedef Vec<Acc, L> V;

  SumPass pass;
  bool divide = false, multiply = false, accumulate = false, streams = false;
  Acc divisor = 1, factor = 1;

  explicit Summing(const SumPass& p) : pass(p), streams(p.stream) {
    if (!p.final) return;
    divisor = static_cast<Acc>(p.final->ranks);
    factor = static_cast<Acc>(p.final->scale);
    divide = p.final->average && p.final->ranks != 1;
    multiply = factor != 1;
    accumulate = p.final->accumulate;
    // The old value brought its line into the cache: streaming would only throw it out again.
    streams = streams && !accumulate;
  }

  template <class T>
  static TIDE_INLINE V load(const void* row, size_t at, int elems) {
    return widened<T, Acc, L>(
        loaded_part<Storage<T>, L>(static_cast<const Storage<T>*>(row) + at, elems));
  }

  template <int count = unroll, class Body>
  static TIDE_INLINE void each(Body&& body) {
#pragma GCC unroll 4
    for (int u = 0; u < count; ++u) body(u, static_cast<size_t>(u * L));
  }

  // elems <= L of any groups of rows, from element `at` on.
  void some(size_t at, int elems) const {
    // -0 + x is x, whatever x: the sum of nothing.
    V total = pass.base ? load<Acc>(pass.base, at, elems) : -V{};
    const void* const* row = pass.rows;
    for (int g = 0; g < pass.groups; ++g) {
      const void* const* end = row + pass.group_sizes[g];
      if (row == end && !(g == 0 && pass.front)) continue;
      V group =
          g == 0 && pass.front ? load<Acc>(pass.front, at, elems) : load<In>(*row++, at, elems);
      for (; row != end; ++row) group = group + load<In>(*row, at, elems);
      total = total + group;
    }
    finish<1>(&total, at, elems, false);
  }

  // The same for a whole tile.
  TIDE_INLINE void tile(size_t at, bool stream_it) const {
    V total[unroll], group[unroll];
    if (pass.base)
      each([&](int u, size_t k) { total[u] = load<Acc>(pass.base, at + k, L); });
    else
      each([&](int u, size_t) { total[u] = -V{}; });
    const void* const* row = pass.rows;
    for (int g = 0; g < pass.groups; ++g) {
      const void* const* end = row + pass.group_sizes[g];
      if (g == 0 && pass.front)
        each([&](int u, size_t k) { group[u] = load<Acc>(pass.front, at + k, L); });
      else if (row == end)
        continue;
      else {
        each([&](int u, size_t k) { group[u] = load<In>(*row, at + k, L); });
        ++row;
      }
      for (; row != end; ++row)
        each([&](int u, size_t k) { group[u] = group[u] + load<In>(*row, at + k, L); });
      each([&](int u, size_t) { total[u] = total[u] + group[u]; });
    }
    finish<unroll>(total, at, L, stream_it);
  }

  // One group of exactly `rows` rows: their addresses stay in registers.
  template <int rows>
  size_t tiles_of(size_t at, bool stream_it) const {
    const Summing me = *this;  // what stores cannot reach stays in registers
    // Measured on Zen 3; more rows ahead evict one another where they start alike within a page.
    constexpr size_t ahead_bytes = rows <= 4 ? 512 : 256;
    const Storage<In>* row[rows];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) row[r] = static_cast<const Storage<In>*>(pass.rows[r]);
    for (; me.pass.elems - at >= step; at += step) {
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r)
        for (size_t line = 0; line < step * sizeof(In); line += line_bytes)
          __builtin_prefetch(reinterpret_cast<const char*>(row[r] + at) + line + ahead_bytes);
      V total[unroll];
      each([&](int u, size_t k) { total[u] = load<In>(row[0], at + k, L); });
#pragma GCC unroll 8
      for (int r = 1; r < rows; ++r)
        each([&](int u, size_t k) { total[u] = total[u] + load<In>(row[r], at + k, L); });
      if (me.pass.base)
        each([&](int u, size_t k) { total[u] = load<Acc>(me.pass.base, at + k, L) + total[u]; });
      me.template finish<unroll>(total, at, L, stream_it);
    }
    return at;
  }

  template <int count>
  TIDE_INLINE void finish(V* t, size_t at, int elems, bool stream_it) const {
    auto* to = static_cast<Storage<Out>*>(pass.dst) + at;
    if (divide) each<count>([&](int u, size_t) { t[u] = t[u] / divisor; });
    if (multiply) each<count>([&](int u, size_t) { t[u] = t[u] * factor; });
    if (accumulate) each<count>([&](int u, size_t k) { t[u] = load<Out>(to, k, elems) + t[u]; });
    if (stream_it)
      each<count>([&](int u, size_t k) { stream(to + k, rounded_to<Acc, Out, L>(t[u])); });
    else
      each<count>([&](int u, size_t k) {
        store_part<Storage<Out>, L>(to + k, rounded_to<Acc, Out, L>(t[u]), elems);
      });
  }

  size_t tiles(size_t at, bool stream_it) const {
    // Every count for the common outputs; elsewhere the single row of a conversion.
    constexpr bool common = same<Out, Acc> || same<Out, In>;
    if (pass.groups == 1 && !pass.front) switch (pass.group_sizes[0]) {
        case 1:
          return tiles_of<1>(at, stream_it);
        case 2:
          if constexpr (common) return tiles_of<2>(at, stream_it);
          break;
        case 3:
          if constexpr (common) return tiles_of<3>(at, stream_it);
          break;
        case 4:
          if constexpr (common) return tiles_of<4>(at, stream_it);
          break;
        case 5:
          if constexpr (common) return tiles_of<5>(at, stream_it);
          break;
        case 6:
          if constexpr (common) return tiles_of<6>(at, stream_it);
          break;
        case 7:
          if constexpr (common) return tiles_of<7>(at, stream_it);
          break;
        case 8:
          if constexpr (common) return tiles_of<8>(at, stream_it);
          break;
        default:
          break;
      }
    const Summing me = *this;
    for (; me.pass.elems - at >= step; at += step) me.tile(at, stream_it);
    return at;
  }

  size_t up_to(size_t at, size_t end) const {
    while (at < end) {
      int n = end - at < size_t{L} ? static_cast<int>(end - at) : L;
      some(at, n);
      at += static_cast<size_t>(n);
    }
    return at;
  }

  void run() const {
    size_t past_line = reinterpret_cast<uintptr_t>(pass.dst) % line_bytes;
    bool stream_tiles = streams && past_line % sizeof(Out) == 0 && pass.elems >= step + line_bytes;
    size_t head = stream_tiles && past_line ? (line_bytes - past_line) / sizeof(Out) : 0;
    up_to(tiles(up_to(0, head), stream_tiles), pass.elems);
  }
};

template <class In, class Acc, class Out>
void sum_pass(const SumPass& pass) {
  Summing<In, Acc, Out>(pass).run();
}

// Whole lines of dst; past the caches if `streams`.
template <bool streams>
void copy_lines(void* to, const void* from, size_t bytes) {
  char* dst = static_cast<char*>(to);
  const char* src = static_cast<const char*>(from);
  size_t head = (line_bytes - reinterpret_cast<uintptr_t>(dst) % line_bytes) % line_bytes;
  if (head > bytes) head = bytes;
  __builtin_memcpy(dst, src, head);
  dst += head, src += head, bytes -= head;
  typedef Vec<uint8_t, vector_bytes> V;
  constexpr size_t step = 4 * line_bytes;
  constexpr int count = int{step} / vector_bytes;
  for (; bytes >= step; dst += step, src += step, bytes -= step) {
    V v[count];
#pragma GCC unroll 16
    for (int k = 0; k < count; ++k) v[k] = loaded<V>(src + k * vector_bytes);
#pragma GCC unroll 16
    for (int k = 0; k < count; ++k) {
      if constexpr (streams)
        stream(dst + k * vector_bytes, v[k]);
      else
        store(dst + k * vector_bytes, v[k]);
    }
  }
  __builtin_memcpy(dst, src, bytes);
}

#define TIDE_OUTS(In, Acc)                                                      \
  {                                                                             \
    sum_pass<In, Acc, Bf16>, sum_pass<In, Acc, Fp16>, sum_pass<In, Acc, float>, \
        sum_pass<In, Acc, double>                                               \
  }
#define TIDE_KERNEL_TABLE(isa)                                               \
  {                                                                          \
    isa,                                                                     \
        {{TIDE_OUTS(Bf16, float), TIDE_OUTS(Bf16, double)},                  \
         {TIDE_OUTS(Fp16, float), TIDE_OUTS(Fp16, double)},                  \
         {TIDE_OUTS(float, float), TIDE_OUTS(float, double)},                \
         {{nullptr, nullptr, nullptr, nullptr}, TIDE_OUTS(double, double)}}, \
    {                                                                        \
      copy_lines<false>, copy_lines<true>                                    \
    }                                                                        \
  }

}  // namespace
}  // namespace tide
