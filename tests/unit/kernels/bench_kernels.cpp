// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Speed of the host kernels beside a non-temporal copy and a plain loop.  Not a test; every figure
// is the best of several rounds in this thread's own time, and all variants take turns in each
// round, so that a neighbour's load strikes them alike.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "backend/host/kernels.hpp"

using namespace tide;

namespace {

struct Variant {
  std::string name;
  double bytes;
  std::function<void()> run;
  double best_s = 1e9;
};

double thread_s() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void measure(const char* title, std::vector<Variant> variants, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (auto& v : variants) {
      double begin = thread_s();
      v.run();
      fence();
      v.best_s = std::min(v.best_s, thread_s() - begin);
    }
  std::printf("%s\n", title);
  double first = variants[0].bytes / variants[0].best_s;
  for (auto& v : variants)
    std::printf("  %-44s %8.3f ms %7.2f GB/s  %5.2f of the first\n", v.name.c_str(), v.best_s * 1e3,
                v.bytes / v.best_s / 1e9, v.bytes / v.best_s / first);
}

template <class T>
T* buffer(size_t elems, int value) {
  void* p = std::aligned_alloc(4096, (elems * sizeof(T) + 4095) / 4096 * 4096);
  std::memset(p, value, elems * sizeof(T));
  return static_cast<T*>(p);
}

[[gnu::noinline]] void plain_sum(float* dst, const uint16_t* const* rows, int n, size_t elems) {
  for (size_t i = 0; i < elems; ++i) {
    float t = -0.0f;
    for (int r = 0; r < n; ++r) {
      uint32_t u = uint32_t{rows[r][i]} << 16;
      float x;
      std::memcpy(&x, &u, 4);
      t += x;
    }
    dst[i] = t;
  }
}

void sums(int rows, size_t elems, int rounds, size_t skew) {
  std::vector<const void*> list;
  for (int r = 0; r < rows; ++r) list.push_back(buffer<uint16_t>(elems + 64, 1) + skew);
  float* dst = buffer<float>(elems + 64, 0) + skew;
  double bytes = static_cast<double>(elems) * (2.0 * rows + 4);
  size_t half = static_cast<size_t>(bytes / 2);
  char *from = buffer<char>(half, 1), *to = buffer<char>(half, 0);
  std::vector<Variant> v;
  v.push_back(
      {"copy, non-temporal (same bytes moved)", bytes, [=] { copy(to, from, half, true); }});
  v.push_back({"memcpy", bytes, [=] { std::memcpy(to, from, half); }});
  v.push_back({"plain loop", bytes, [&] {
                 plain_sum(dst, reinterpret_cast<const uint16_t* const*>(list.data()), rows, elems);
               }});
  for (bool stream : {false, true})
    v.push_back({stream ? "sum, stream" : "sum", bytes, [&, stream] {
                   sum({list.data(), &rows, 1, Dtype::bf16, Dtype::fp32, nullptr, dst, Dtype::fp32,
                        nullptr, elems, stream});
                 }});
  Arithmetic average{true, 3, 1.0, false};
  v.push_back({"sum, stream, average over 3", bytes, [&] {
                 sum({list.data(), &rows, 1, Dtype::bf16, Dtype::fp32, nullptr, dst, Dtype::fp32,
                      &average, elems, true});
               }});
  char title[128];
  std::snprintf(title, sizeof title,
                "%d rows of bf16 to fp32, %zu KiB each, %zu elements off alignment", rows,
                elems * 2 / 1024, skew);
  measure(title, v, rounds);
  std::free(from), std::free(to), std::free(dst - skew);
  for (auto* p : list) std::free(const_cast<uint16_t*>(static_cast<const uint16_t*>(p) - skew));
}

void copies(size_t bytes, int places, int rounds, size_t skew) {
  char* from = buffer<char>(bytes + 64, 1);
  std::vector<void*> to, skewed;
  for (int k = 0; k < places; ++k) to.push_back(buffer<char>(bytes + 4096, 0));
  for (int k = 0; k < places; ++k) skewed.push_back(static_cast<char*>(to[k]) + skew * (k + 1));
  double moved = 2.0 * static_cast<double>(bytes);
  std::vector<Variant> v;
  v.push_back(
      {"copy, non-temporal, one place", moved, [&] { copy(skewed[0], from, bytes, true); }});
  v.push_back({"memcpy, one place", moved, [&] { std::memcpy(skewed[0], from, bytes); }});
  v.push_back({"memcpy, to each place in turn", moved * places, [&] {
                 for (void* p : skewed) std::memcpy(p, from, bytes);
               }});
  for (bool stream : {false, true})
    v.push_back({stream ? "copy_to_all, stream" : "copy_to_all", moved * places,
                 [&, stream] { copy_to_all(skewed.data(), places, from, bytes, stream); }});
  char title[128];
  std::snprintf(title, sizeof title, "%zu KiB to %d places, %zu bytes off alignment", bytes / 1024,
                places, skew);
  measure(title, v, rounds);
  std::free(from);
  for (void* p : to) std::free(p);
}

void conversions(size_t elems, int rounds) {
  const Dtype all[] = {Dtype::bf16, Dtype::fp16, Dtype::fp32, Dtype::fp64};
  const char* names[] = {"bf16", "fp16", "fp32", "fp64"};
  double* from = buffer<double>(elems, 0x3c);
  double* to = buffer<double>(elems, 0);
  size_t half = elems * 4;
  std::vector<Variant> v;
  v.push_back({"copy, non-temporal", 2.0 * half, [=] { copy(to, from, half, true); }});
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      if (a != b)
        v.push_back({std::string("convert, stream ") + names[a] + " -> " + names[b],
                     static_cast<double>(elems * (bytes_of(all[a]) + bytes_of(all[b]))),
                     [=] { convert(to, all[b], from, all[a], elems, true); }});
  measure("conversions", v, rounds);
  std::free(from), std::free(to);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1)
    for (Isa i : {Isa::plain, Isa::avx2, Isa::avx512})
      if (std::string(argv[1]) == name(i) && !force_isa(i))
        return std::puts("not on this processor"), 1;
  int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  std::printf("instruction set: %s\n", name(isa()));
  constexpr size_t mib = size_t{1} << 20;
  for (int rows : {2, 4, 8}) sums(rows, 16 * mib, rounds, 0);
  sums(2, 16 * mib, rounds, 1);
  sums(32, 2 * mib, rounds, 0);
  sums(2, 4096, rounds * 50, 0);
  copies(32 * mib, 2, rounds, 0);
  copies(32 * mib, 2, rounds, 6);
  copies(32 * mib, 4, rounds, 0);
  conversions(4 * mib, rounds);
}
