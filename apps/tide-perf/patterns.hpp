// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "layout.hpp"
#include "memory.hpp"

// Inputs whose results are known exactly, so that verification needs no tolerance.
//   All-gather: element i of parameter p has the raw bits 40503 i + 13 p + 1, modulo 2^width.
//   Reduce-scatter: rank r's element i of parameter p is ((7 i + 13 p + 3 r) mod 31) - 15; every
//   such value is exact in each dtype, and so are the sums in fp32.
namespace perf {

void fill_bits(void* dst, int dtype, int p, std::int64_t first_elem, std::int64_t elems);
void fill_grads(void* dst, int dtype, int p, std::int64_t first_elem, std::int64_t elems, int rank);

/// Empty if dst holds the pattern's bits for these elements, else where it first differs.
std::string check_bits(const void* dst, const Param& param, int p, std::int64_t first_elem,
                       std::int64_t elems);
/// Empty if dst holds the sums over all ranks in out_dtype, else where it first differs.
std::string check_sums(const void* dst, int out_dtype, const Param& param, int p,
                       std::int64_t first_elem, std::int64_t elems, int ranks);

/// check_bits of every whole parameter.
std::string check_params(const Layout& layout, const Storage& params);
/// check_sums of this rank's rows of every parameter; out_dtype 0: each one's own.
std::string check_shards(const Layout& layout, const Storage& shards, int out_dtype, int rank);

// The same of packed padded shards in host memory, one after another by rank.
void fill_packed_shard(const Layout& layout, char* at, int rank);
void fill_packed_grads(const Layout& layout, char* at, int dtype, int rank);
std::string check_packed(const Layout& layout, const char* at, std::int64_t shard_bytes);

/// Overwrites storage, so that a result that was never written is found.
void poison(const Layout& layout, const Storage& storage, What what, int rank, int dtype);

}  // namespace perf
