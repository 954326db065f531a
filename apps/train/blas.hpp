// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cblas.h>

#include <cstdint>

namespace train {

/// Rows of a matrix that stand `stride` elements apart.
struct In {
  const float* at;
  int64_t stride;
  CBLAS_TRANSPOSE transpose = CblasNoTrans;
};

/// c [m x n] = scale a b + keep c, where a is [m x k] and b is [k x n], each after its transpose.
void multiply(int64_t m, int64_t n, int64_t k, In a, In b, float* c, int64_t c_stride,
              float scale = 1, float keep = 0);

void use_one_blas_thread();

}  // namespace train
