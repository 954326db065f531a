// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "blas.hpp"

#include <cstdlib>
#include <initializer_list>

// Present in OpenBLAS only.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace train {

void multiply(int64_t m, int64_t n, int64_t k, In a, In b, float* c, int64_t c_stride, float scale,
              float keep) {
  cblas_sgemm(CblasRowMajor, a.transpose, b.transpose, int(m), int(n), int(k), scale, a.at,
              int(a.stride), b.at, int(b.stride), keep, c, int(c_stride));
}

void use_one_blas_thread() {
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"})
    setenv(name, "1", 1);
  if (openblas_set_num_threads) openblas_set_num_threads(1);
}

}  // namespace train
