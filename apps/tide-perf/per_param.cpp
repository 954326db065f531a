// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "contest.hpp"
#include "dtypes.hpp"
#include "patterns.hpp"

// One MPI collective per parameter.  The all-gather needs no copy at all; the reduce-scatter casts
// a bf16 or fp16 gradient to fp32 first, since MPI cannot add those.
namespace perf {
namespace {

// counts[p * ranks + r], in elements of the given size.
std::vector<int> counts_of(const Workload& w, bool in_bytes) {
  std::vector<int> counts;
  for (int p = 0; p < w.layout.nparams(); ++p)
    for (int r = 0; r < w.ranks; ++r) {
      const auto elem = in_bytes ? elem_bytes(w.layout.param(p).dtype) : 1;
      counts.push_back(static_cast<int>(w.layout.elems(p, r) * static_cast<std::int64_t>(elem)));
    }
  return counts;
}

std::int64_t largest_param(const Workload& w, bool in_bytes) {
  std::int64_t most = 0;
  for (const Param& p : w.list->params)
    most = std::max<std::int64_t>(
        most, p.elems() * static_cast<std::int64_t>(in_bytes ? elem_bytes(p.dtype) : 1));
  return most;
}

void reduce_one(const Workload& w, int p, const int* counts, char* wide, char* sums) {
  const Param& param = w.layout.param(p);
  const void* src = w.grads[p];
  if (param.dtype != w.acc_dtype) {
    cast_elems(wide, w.acc_dtype, src, param.dtype, w.acc_dtype,
               static_cast<std::size_t>(param.elems()));
    src = wide;
  }
  const bool direct = w.out_of(p) == w.acc_dtype;
  MPI_Reduce_scatter(src, direct ? w.own_reduced[p] : sums, counts, acc_type(w), MPI_SUM, w.comm);
  if (!direct)
    cast_elems(w.own_reduced[p], w.out_of(p), sums, w.acc_dtype, w.acc_dtype,
               static_cast<std::size_t>(w.layout.elems(p, w.rank)));
}

}  // namespace

Contestant per_param_allgather(Workload& w) {
  Contestant c{"per-param", "one MPI_Allgatherv per parameter"};
  c.refused = int_count_problem("MPI_Allgatherv", largest_param(w, true));
  if (!c.refused.empty()) return c;
  const std::vector<int> counts = counts_of(w, true);
  std::vector<int> starts(counts.size());
  for (std::size_t i = 1; i < counts.size(); ++i)
    starts[i] = i % static_cast<std::size_t>(w.ranks) == 0 ? 0 : starts[i - 1] + counts[i - 1];
  c.run = [&w, counts, starts] {
    for (int p = 0; p < w.layout.nparams(); ++p) {
      const auto at = static_cast<std::size_t>(p) * static_cast<std::size_t>(w.ranks);
      MPI_Allgatherv(w.shards[p], counts[at + static_cast<std::size_t>(w.rank)], MPI_BYTE,
                     w.own_params[p], &counts[at], &starts[at], MPI_BYTE, w.comm);
    }
  };
  c.clear = [&w] { poison(w.layout, w.own_params, What::full, w.rank, 0); };
  c.verify = [&w] { return check_params(w.layout, w.own_params); };
  return c;
}

Contestant per_param_reduce_scatter(Workload& w) {
  Contestant c{"per-param", "cast to fp32 and one MPI_Reduce_scatter per parameter"};
  const std::int64_t largest = largest_param(w, false);
  c.refused = int_count_problem("MPI_Reduce_scatter", largest);
  if (!c.refused.empty()) return c;
  bool casts_in = false, casts_out = false;
  for (int p = 0; p < w.layout.nparams(); ++p) {
    casts_in |= w.layout.param(p).dtype != w.acc_dtype;
    casts_out |= w.out_of(p) != w.acc_dtype;
  }
  const std::int64_t bytes = largest * static_cast<std::int64_t>(elem_bytes(w.acc_dtype));
  c.workspace_bytes = (casts_in + casts_out) * bytes;
  const Bytes wide = make_bytes(casts_in ? bytes : 0);
  const Bytes sums = make_bytes(casts_out ? bytes : 0);
  const std::vector<int> counts = counts_of(w, false);
  c.run = [&w, counts, wide, sums] {
    for (int p = 0; p < w.layout.nparams(); ++p)
      reduce_one(w, p, &counts[static_cast<std::size_t>(p) * static_cast<std::size_t>(w.ranks)],
                 wide.get(), sums.get());
  };
  c.clear = [&w] { poison(w.layout, w.own_reduced, What::shard, w.rank, w.out_dtype); };
  c.verify = [&w] { return check_shards(w.layout, w.own_reduced, w.out_dtype, w.rank); };
  return c;
}

}  // namespace perf
