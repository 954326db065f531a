// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

// The loops of the baselines. They are as good as plain C++ with run-time dispatch to AVX2 makes
// them, since a slow baseline would flatter the library.
namespace perf {

enum class Store { cached, streaming };

/// memcpy, or the same with non-temporal stores (which read no destination line first).
void copy_bytes(void* dst, const void* src, std::size_t bytes, Store store);

/// dst[i] = (Out)(src[0][i] + src[1][i] + ...), summed in acc_dtype (FP32 or FP64) from the left.
/// With one source it is a cast.  Integer types are not summed.
void sum_slices(void* dst, int out_dtype, const void* const* src, int nsrc, int dtype,
                int acc_dtype, std::size_t elems, Store store);

/// sum_slices() of one source.
inline void cast_elems(void* dst, int out_dtype, const void* src, int dtype, int acc_dtype,
                       std::size_t elems) {
  sum_slices(dst, out_dtype, &src, 1, dtype, acc_dtype, elems, Store::cached);
}

}  // namespace perf
