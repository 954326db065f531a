// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The inner loops of the host backend.  Each exists as a plain loop and compiled for AVX2 and for
// AVX-512; the widest that the processor has is picked once.  All are equal to the last bit:
// element-wise IEEE operations in one documented order, no contraction, subnormals kept (FTZ and
// DAZ are cleared for the duration of a call and the caller's mode restored).
#pragma once
#include <cstddef>
#include <cstdint>

namespace tide {

enum class Dtype : uint8_t { bf16 = 1, fp16 = 2, fp32 = 3, fp64 = 4, uint8 = 5 };
size_t bytes_of(Dtype);

struct Arithmetic {      // what the last sum of a reduce-scatter does, in the accumulation type T
  bool average = false;  // t = t / (T)ranks
  int ranks = 1;
  double scale = 1;  // t = t * (T)scale
  bool accumulate =
      false;  // t = (T)old + t, after the scaling; then one rounding to the output type
};

struct SumRows {
  const void* const* rows;  // sum(group_sizes) pointers; element-aligned, any alignment beyond that
  const int* group_sizes;   // rows are added inside a group first, then the groups' sums in order:
                            // ((r0 + r1) + (r2 + r3)) ...
  int groups;
  Dtype in;          // of the rows
  Dtype acc;         // T: fp32 or fp64; acc >= in
  const void* base;  // elements of T added in front, as a group before the first: (base + (r0 +
                     // r1)) + (r2 + r3); or null
  void* dst;         // may equal a row or base only where the addresses are the same
  Dtype out;         // of dst; T where final is null
  const Arithmetic* final;  // null: store T as it is
  size_t elems;
  bool stream;  // non-temporal stores (dst is large and not read again soon); the caller's fence()
                // orders them
};
void sum(const SumRows&);

void copy(void* dst, const void* src, size_t bytes, bool stream);
// The same bytes to several places, src read once per cache-sized block.
void copy_to_all(void* const* dst, int count, const void* src, size_t bytes, bool stream);
// One rounding, to nearest even; from == to moves bits.
void convert(void* dst, Dtype to, const void* src, Dtype from, size_t elems, bool stream = false);
void fence();  // orders earlier non-temporal stores before later stores

enum class Isa { plain, avx2, avx512 };
Isa isa();            // in use
bool force_isa(Isa);  // for tests: false where the processor lacks it
const char* name(Isa);

}  // namespace tide
