// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "prepare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agreement.hpp"
#include "dtypes.hpp"
#include "patterns.hpp"

namespace perf {
namespace {

// In multiples of the list: the inputs and outputs, and what each baseline that takes part adds.
// A gradient cast to fp32 is twice as large (`wide`), an fp64 one as large.
double lists_in_memory(const Options& o, const Workload& w, bool allgather) {
  double elems = 0;
  for (const Param& p : w.list->params) elems += static_cast<double>(p.elems());
  const double full = static_cast<double>(w.list->full_bytes());
  const double wide = elems * static_cast<double>(elem_bytes(w.acc_dtype)) / std::max(1.0, full);
  double lists = allgather ? 2 : 1;
  lists += o.has_baseline("stock") ? (allgather ? 1 : wide) : 0;
  lists += o.has_baseline("flat") ? (allgather ? 1 : wide) : 0;
  lists += o.has_baseline("limit") ? 1 : 0;
  lists += !allgather && o.has_baseline("a2a") ? 2 : 0;
  return lists;
}

}  // namespace

void check_memory(const Options& o, const Workload& w, bool allgather) {
  int sharing = 1;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(w.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &sharing);
  MPI_Comm_free(&node);
  const double gib = 1024.0 * 1024 * 1024;
  const double needed =
      lists_in_memory(o, w, allgather) * static_cast<double>(w.list->full_bytes()) * sharing;
  const auto available = static_cast<double>(available_bytes());
  const bool fits = available < 0 || needed < 0.9 * available;
  tools::agree(w.comm,
               fits ? ""
                    : fmt::format("about {:.1f} GiB are needed on this host for {} ranks and "
                                  "{:.1f} are available; use a smaller --mib or fewer --baselines",
                                  needed / gib, sharing, available / gib));
}

void fill_allgather(Workload& w) {
  const bool tide_memory = w.memory == "tide";
  w.shards = tide_memory ? make_tide(w.tide_comm, w.group, MPIX_TIDE_SHARD, 0, "none")
                         : make_private(w.layout, What::shard, w.rank, 0);
  w.params = tide_memory ? make_tide(w.tide_comm, w.group, MPIX_TIDE_FULL, 0, w.share)
                         : make_private(w.layout, What::full, w.rank, 0);
  w.own_params = make_private(w.layout, What::full, w.rank, 0);
  poison(w.layout, w.params, What::full, w.rank, 0);
  for (int p = 0; p < w.layout.nparams(); ++p)
    fill_bits(w.shards[p], w.layout.param(p).dtype, p, w.layout.first_elem(p, w.rank),
              w.layout.elems(p, w.rank));
}

void fill_reduce_scatter(Workload& w) {
  const bool tide_memory = w.memory == "tide";
  w.grads = tide_memory ? make_tide(w.tide_comm, w.group, MPIX_TIDE_GRAD, 0, "none")
                        : make_private(w.layout, What::full, w.rank, 0);
  w.reduced = tide_memory ? make_tide(w.tide_comm, w.group, MPIX_TIDE_SHARD, w.out_dtype, "none")
                          : make_private(w.layout, What::shard, w.rank, w.out_dtype);
  w.own_reduced = make_private(w.layout, What::shard, w.rank, w.out_dtype);
  poison(w.layout, w.reduced, What::shard, w.rank, w.out_dtype);
  for (int p = 0; p < w.layout.nparams(); ++p)
    fill_grads(w.grads[p], w.layout.param(p).dtype, p, 0, w.layout.param(p).elems(), w.rank);
}

}  // namespace perf
