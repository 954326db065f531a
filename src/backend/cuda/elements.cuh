// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Elements in the kernels: at any address, widened, rounded, stored.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "backend/cuda/kernels.hpp"

namespace tide::gpu {
namespace {

template <class T>
struct alignas(16) Vector {
  static constexpr int size = 16 / sizeof(T);
  T value[size];
};

// An element at any address: pieces stand one after another in the workspace, whatever their types.
template <class T>
__device__ T get(const void* at) {
  if (reinterpret_cast<uintptr_t>(at) % sizeof(T) == 0) return *static_cast<const T*>(at);
  T value;
  for (int i = 0; i < int(sizeof(T)); i++)
    reinterpret_cast<unsigned char*>(&value)[i] = static_cast<const unsigned char*>(at)[i];
  return value;
}
template <class T>
__device__ void put(void* at, T value) {
  if (reinterpret_cast<uintptr_t>(at) % sizeof(T) == 0) {
    *static_cast<T*>(at) = value;
    return;
  }
  for (int i = 0; i < int(sizeof(T)); i++)
    static_cast<unsigned char*>(at)[i] = reinterpret_cast<const unsigned char*>(&value)[i];
}
// n elements, in stores of 16 bytes where `wide` says that the address allows it.
template <int n, class T>
__device__ void put_all(T* at, const T (&value)[n], bool wide) {
  constexpr int step = n * sizeof(T) < 16 ? n : 16 / int(sizeof(T));
  struct alignas(step * sizeof(T)) Store {
    T value[step];
  };
  if (n > 1 && wide) {
#pragma unroll
    for (int k = 0; k < n; k += step) {
      Store store;
#pragma unroll
      for (int j = 0; j < step; j++) store.value[j] = value[(k + j) % n];
      *reinterpret_cast<Store*>(at + k) = store;
    }
  } else {
#pragma unroll
    for (int k = 0; k < n; k++) put(at + k, value[k]);
  }
}

// The same for loads.
template <int n, class T>
__device__ void get_all(const T* at, T (&value)[n], bool wide) {
  constexpr int step = n * sizeof(T) < 16 ? n : 16 / int(sizeof(T));
  struct alignas(step * sizeof(T)) Load {
    T value[step];
  };
  if (n > 1 && wide) {
#pragma unroll
    for (int k = 0; k < n; k += step) {
      const Load load = *reinterpret_cast<const Load*>(at + k);
#pragma unroll
      for (int j = 0; j < step; j++) value[(k + j) % n] = load.value[j];
    }
  } else {
#pragma unroll
    for (int k = 0; k < n; k++) value[k] = get<T>(at + k);
  }
}

template <class Acc>
__device__ Acc wide(__nv_bfloat16 x) {
  return static_cast<Acc>(__bfloat162float(x));
}
template <class Acc>
__device__ Acc wide(__half x) {
  return static_cast<Acc>(__half2float(x));
}
template <class Acc>
__device__ Acc wide(float x) {
  return x;
}
template <class Acc>
__device__ Acc wide(double x) {
  return static_cast<Acc>(x);
}

// One rounding, to nearest even.
template <class To>
struct Rounded;
template <>
struct Rounded<__nv_bfloat16> {
  static __device__ __nv_bfloat16 of(float x) { return __float2bfloat16_rn(x); }
  static __device__ __nv_bfloat16 of(double x) { return __double2bfloat16(x); }
};
template <>
struct Rounded<__half> {
  static __device__ __half of(float x) { return __float2half_rn(x); }
  static __device__ __half of(double x) { return __double2half(x); }
};
template <>
struct Rounded<float> {
  static __device__ float of(float x) { return x; }
  static __device__ float of(double x) { return __double2float_rn(x); }
};
template <>
struct Rounded<double> {
  static __device__ double of(double x) { return x; }
};

// Of a sum's last step.  The inverse of a power of two gives the same bits as a division.
template <class Acc>
struct Factors {
  explicit __device__ Factors(const Arithmetic& a)
      : divisor(static_cast<Acc>(a.ranks)),
        inverse(Acc(1) / divisor),
        scale(static_cast<Acc>(a.scale)),
        exact_inverse((a.ranks & (a.ranks - 1)) == 0) {}
  Acc divisor, inverse, scale;
  bool exact_inverse;
};

struct SumTarget {
  void* dst;
  bool final, wide;  // as in SumPiece
};

// What the last step does with n totals, and where they go.
template <class Acc, class Out, int n>
__device__ void store_sum(const SumTarget& target, const Arithmetic& arithmetic,
                          const Factors<Acc>& factors, uint64_t at, Acc (&total)[n]) {
  if (!target.final) return put_all<n>(static_cast<Acc*>(target.dst) + at, total, target.wide);
  auto* to = static_cast<Out*>(target.dst) + at;
  Out out[n];
  if (arithmetic.average && factors.exact_inverse)
#pragma unroll
    for (int k = 0; k < n; k++) total[k] = total[k] * factors.inverse;
  else if (arithmetic.average)
#pragma unroll
    for (int k = 0; k < n; k++) total[k] = total[k] / factors.divisor;
  if (factors.scale != Acc(1))
#pragma unroll
    for (int k = 0; k < n; k++) total[k] = total[k] * factors.scale;
  if (arithmetic.accumulate) {
    get_all<n>(to, out, target.wide);
#pragma unroll
    for (int k = 0; k < n; k++) total[k] = wide<Acc>(out[k]) + total[k];
  }
#pragma unroll
  for (int k = 0; k < n; k++) out[k] = Rounded<Out>::of(total[k]);
  put_all<n>(to, out, target.wide);
}

// make(In(), Acc(), Out()) for the types of a sum.
template <class Make>
auto for_types(Dtype in, Dtype acc, Dtype out, Make make) {
  const auto to = [&](auto in) {
    if (out == Dtype::bf16) return make(in, float(), __nv_bfloat16());
    if (out == Dtype::fp16) return make(in, float(), __half());
    return make(in, float(), float());
  };
  if (in == Dtype::bf16) return to(__nv_bfloat16());
  if (in == Dtype::fp16) return to(__half());
  if (in == Dtype::fp64) return make(double(), double(), double());
  return acc == Dtype::fp64 ? make(float(), double(), double()) : to(float());
}
template <class Use>
void for_all_types(Use use) {
  for (Dtype in : {Dtype::bf16, Dtype::fp16, Dtype::fp32, Dtype::fp64})
    for (Dtype acc : {Dtype::fp32, Dtype::fp64})
      for (Dtype out : {Dtype::bf16, Dtype::fp16, Dtype::fp32}) for_types(in, acc, out, use);
}

}  // namespace
}  // namespace tide::gpu
