// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Element types and the definition of a reduce-scatter's arithmetic, written as plainly as
// possible: what the library must reproduce bit by bit.
#pragma once
#include <mpix_tide.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "team.hpp"

namespace tide_test {

size_t size_of(int dtype);
std::string name_of_dtype(int dtype);
double load(int dtype, const void* at);                    // exact
void store(int dtype, void* at, double value);             // rounds once, to nearest even
bool same_value(int dtype, const void* a, const void* b);  // equal bits, or both NaN
std::string show(int dtype, const void* at);               // bits and value

// The accumulation type: fp32 unless the gradient or the output is fp64.
bool sums_in_double(int grad_dtype, int out_dtype);

struct Arithmetic {
  int op = MPIX_TIDE_SUM;
  double scale = 1.0;
  bool accumulate = false;
  bool by_rank = false;  // tide_order = rank
};

// x[r]: the contribution of rank r of the team.  The result is still to be rounded by store().
double reduce(const Team& team, const std::vector<double>& x, const Arithmetic& arithmetic,
              double old, bool in_double);

uint64_t mix(uint64_t a, uint64_t b = 0, uint64_t c = 0, uint64_t d = 0);  // a hash, for inputs

// Contributions: value that rank r gives element i of parameter p.
using Pattern = double (*)(int r, int p, size_t i);
double small_integers(
    int r, int p, size_t i);  // ((7i + 13p + 3r) mod 31) - 15: exact in bf16, any sum exact in fp32
double rough(int r, int p,
             size_t i);  // wide exponents: any other order of additions gives other bits
void gather_bits(int dtype, int p, size_t i, uint64_t salt,
                 void* at);  // (40503 i + 13 p + 1) mod 65536 for 2 bytes at salt 0
double gather_value(
    int p, size_t i,
    uint64_t salt);  // ties, subnormals, infinities, NaN, -0: for converting gathers

}  // namespace tide_test
