// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What each compilation of kernel_loops.hpp offers; kernels.cpp picks one.  Plain types only:
// nothing inline may be shared between files compiled for different processors.
#pragma once
#include "backend/host/kernels.hpp"

namespace tide {

struct SumPass {  // SumRows with the types taken out
  const void* const* rows;
  const int* group_sizes;
  int groups;
  const void* front;  // elements of T before the first row of the first group: a group begun in an
                      // earlier pass
  const void* base;   // elements of T before the first group
  void* dst;
  const Arithmetic* final;
  size_t elems;
  bool stream;
};

struct KernelTable {
  Isa isa;
  void (*sum[4][2][4])(
      const SumPass&);  // [in][acc: fp32, fp64][out], each by its Dtype - 1; null where acc < in
  void (*copy[2])(void* dst, const void* src, size_t bytes);  // [stream]
};

extern const KernelTable plain_kernels;
#ifdef TIDE_WIDE_KERNELS
extern const KernelTable avx2_kernels;
extern const KernelTable avx512_kernels;
#endif

}  // namespace tide
