// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/norm.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "backend/host/float_mode.hpp"
#include "core/fingerprint.hpp"
#include "mpix_tide.h"

namespace tide {
namespace {

constexpr size_t lanes = 8, block_elems = 1024;
using Lanes = std::array<double, lanes>;

// `elems` of a block that begins at a multiple of the lanes.
template <class T>
void add(Lanes& sums, const T* x, size_t elems) {
  size_t i = 0;
  for (; i + lanes <= elems; i += lanes)
    for (size_t k = 0; k < lanes; k++) {
      const double value = static_cast<double>(x[i + k]);
      sums[k] += value * value;
    }
  for (size_t k = 0; i < elems; i++, k++) {
    const double value = static_cast<double>(x[i]);
    sums[k] += value * value;
  }
}

void check(const NormArguments& a) {
  if (a.wrong) throw *a.wrong;
  if (!a.has_output) throw Error(Kind::arg, "norm2 is NULL; pass the address of a double");
  if (a.dtype < 0 || a.dtype > MPIX_TIDE_FP64)
    throw Error(Kind::arg,
                "dtype {} is not 0 or one of MPIX_TIDE_BF16, FP16, FP32, FP64; pass the element "
                "type of the shards",
                a.dtype);
  if (!a.groups.empty() && !a.shards)
    throw Error(Kind::buffer, "shards is NULL; pass one list of addresses for each group");
  for (size_t g = 0; g < a.groups.size(); g++) {
    const Group& group = *a.groups[g];
    if (!group.params().empty() && !a.shards[g])
      throw Error(Kind::buffer, "group {}: its list of shards is NULL; pass an array", g);
    for (size_t p = 0; p < group.params().size(); p++) {
      const Param& param = group.params()[p];
      const auto rows = group.rows_of(static_cast<int>(p), group.context().comm_rank());
      if (param.frozen) continue;
      const std::string name = group.param_name(static_cast<int64_t>(p));
      if (param.shard_or(a.dtype) == Dtype::uint8)
        throw Error(Kind::unsupported,
                    "group {}, parameter {} {}: type UINT8 has no norm; give it MPIX_TIDE_NOGRAD",
                    g, p, name);
      const auto at = reinterpret_cast<uintptr_t>(a.shards[g][p]);
      if (rows * param.shape.row_elems == 0) continue;
      if (!at || at % bytes_of(param.shard_or(a.dtype)))
        throw Error(Kind::buffer,
                    "group {}, parameter {} {}: the shard is {}; pass an element-aligned address",
                    g, p, name, at ? "not aligned to its element size" : "NULL");
    }
  }
}

uint64_t description(const NormArguments& a) {
  std::vector<uint64_t> words{static_cast<uint64_t>(a.dtype), a.groups.size()};
  for (const auto& group : a.groups) {
    words.push_back(group->params().size());
    for (const Param& p : group->params())
      words.insert(words.end(),
                   {static_cast<uint64_t>(p.shape.rows), static_cast<uint64_t>(p.shape.row_elems),
                    static_cast<uint64_t>(p.dtype), static_cast<uint64_t>(p.types)});
  }
  return hash_words(words.data(), words.size());
}

double own_sum(const NormArguments& a) {
  const FloatMode exact;
  double sum = 0;
  for (size_t g = 0; g < a.groups.size(); g++) {
    const Group& group = *a.groups[g];
    for (size_t p = 0; p < group.params().size(); p++) {
      const Param& param = group.params()[p];
      if (param.frozen) continue;
      const auto rows = group.rows_of(static_cast<int>(p), group.context().comm_rank());
      sum += sum_of_squares(a.shards[g][p], param.shard_or(a.dtype),
                            static_cast<size_t>(rows * param.shape.row_elems));
    }
  }
  return sum;
}

}  // namespace

double sum_of_squares(const void* data, Dtype dtype, size_t elems) {
  Lanes sums{};
  if (dtype == Dtype::fp64) {
    add(sums, static_cast<const double*>(data), elems);
  } else if (dtype == Dtype::fp32) {
    add(sums, static_cast<const float*>(data), elems);
  } else {
    std::array<float, block_elems> block;  // exact
    for (size_t at = 0; at < elems; at += block_elems) {
      const size_t part = std::min(block_elems, elems - at);
      convert(block.data(), Dtype::fp32, static_cast<const uint16_t*>(data) + at, dtype, part);
      add(sums, block.data(), part);
    }
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

double norm_of(MPI_Comm shard, const NormArguments& a) {
  const double limit_s = a.groups.empty() ? default_limit_s() : a.groups[0]->limit_s();
  const auto context = Context::of(shard, limit_s);
  const Context::Setup setup(*context, limit_s, SetupCall::norm2);
  struct Part {
    double sum;
    uint64_t description;
    int64_t ngroups, dtype, wrong;
  };
  Part mine{};
  const auto wrong = context->attempt([&] {
    check(a);
    mine = {own_sum(a), description(a), static_cast<int64_t>(a.groups.size()), a.dtype, 0};
  });
  mine.wrong = wrong.has_value();
  const std::vector<Part> all = context->gather_all(mine);
  if (std::any_of(all.begin(), all.end(), [](const Part& part) { return part.wrong; }))
    context->agree(wrong);
  double sum = 0;
  for (size_t r = 0; r < all.size(); r++) {
    const auto differ = [&](const char* what, int64_t x, int64_t zero) {
      throw Error(Kind::mismatch,
                  "rank {}: {} is {} but rank 0 has {}; pass the same on all ranks of shard", r,
                  what, x, zero);
    };
    if (all[r].ngroups != all[0].ngroups) differ("ngroups", all[r].ngroups, all[0].ngroups);
    if (all[r].dtype != all[0].dtype) differ("dtype", all[r].dtype, all[0].dtype);
    if (all[r].description != all[0].description)
      throw Error(Kind::mismatch,
                  "rank {}: groups have other parameters than on rank 0; pass the same groups in "
                  "the same order on all ranks of shard",
                  r);
    sum += all[r].sum;
  }
  return std::sqrt(sum);
}

}  // namespace tide
