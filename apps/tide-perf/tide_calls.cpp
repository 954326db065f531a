// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "agreement.hpp"
#include "contest.hpp"
#include "patterns.hpp"

// The library's own two calls.
namespace perf {

void prepare_results(Workload& w, bool allgather, Contestant& c) {
  c.clear = [&w, allgather] {
    if (allgather)
      poison(w.layout, w.params, What::full, w.rank, 0);
    else
      poison(w.layout, w.reduced, What::shard, w.rank, w.out_dtype);
  };
  c.verify = [&w, allgather] {
    return allgather ? check_params(w.layout, w.params)
                     : check_shards(w.layout, w.reduced, w.out_dtype, w.rank);
  };
}

void prepare_tide(Workload& w, bool allgather, MPIX_Tide_group group, Contestant& c) {
  MPIX_Tide_sizes sizes{};
  tools::check_tide(MPIX_Tide_group_sizes(group, &sizes), "MPIX_Tide_group_sizes");
  c.workspace_bytes =
      allgather ? sizes.allgather_workspace_bytes : sizes.reduce_scatter_workspace_bytes;
  prepare_results(w, allgather, c);
}

Contestant tide_allgather(Workload& w) {
  Contestant c{"tide", "MPIX_Tide_allgather: lands in the parameters"};
  prepare_tide(w, true, w.group, c);
  c.run = [&w] {
    tools::check_tide(
        MPIX_Tide_allgather(MPIX_TIDE_INPUTS(w.shards.ptrs.data()), w.params.ptrs.data(), w.group),
        "MPIX_Tide_allgather");
  };
  return c;
}

Contestant tide_reduce_scatter(Workload& w) {
  Contestant c{"tide", "MPIX_Tide_reduce_scatter: reads the gradients in place"};
  prepare_tide(w, false, w.group, c);
  c.run = [&w] {
    tools::check_tide(
        MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(w.grads.ptrs.data()), w.reduced.ptrs.data(),
                                 w.out_dtype, MPIX_TIDE_SUM, 1.0, w.group),
        "MPIX_Tide_reduce_scatter");
  };
  return c;
}

}  // namespace perf
