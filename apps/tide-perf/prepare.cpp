// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "prepare.hpp"
#include "host.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agreement.hpp"
#include "dtypes.hpp"
#include "gpu/device.hpp"
#include "gpu/in_process.hpp"
#include "patterns.hpp"

namespace perf {
namespace {

// What the device's baselines add, each as much.
std::vector<const char*> baselines_of(const Options& o, bool allgather) {
  if (o.in_process != 0)
    return allgather ? std::vector<const char*>{"plain"}
                     : std::vector<const char*>{"stock-resident", "resident"};
  return allgather
             ? std::vector<const char*>{"stock", "copy-out", "nccl", "stock-ce", "nccl-ce", "plain"}
             : std::vector<const char*>{"stock", "nccl"};
}

// In multiples of the list: the inputs and outputs, and what each baseline that takes part adds.
// A gradient cast to fp32 is twice as large (`wide`), an fp64 one as large.
double lists_in_memory(const Options& o, const Workload& w, bool allgather) {
  double elems = 0;
  for (const Param& p : w.list->params) elems += static_cast<double>(p.elems());
  const double full = static_cast<double>(w.list->full_bytes());
  const double wide = elems * static_cast<double>(elem_bytes(w.acc_dtype)) / std::max(1.0, full);
  double lists = allgather ? 2 : 1;
  if (o.on_device()) {
    for (const char* name : baselines_of(o, allgather))
      if (o.has_baseline(name)) lists += allgather ? 2 : wide;
    return lists;
  }
  lists += o.has_baseline("stock") ? (allgather ? 1 : wide) : 0;
  lists += o.has_baseline("flat") ? (allgather ? 1 : wide) : 0;
  lists += o.has_baseline("limit") ? 1 : 0;
  lists += !allgather && o.has_baseline("a2a") ? 2 : 0;
  return lists;
}

Keys keys_of(const Workload& w, const std::string& share) {
  Keys keys{{"tide_share", share}};
  if (w.memory == "cuda") keys.push_back({"mpi_memory_alloc_kinds", "cuda:device"});
  return keys;
}

// `what` as MPIX_Tide_group_alloc names it.
Storage make(const Workload& w, int what, int dtype, const std::string& share) {
  const What rows = what == MPIX_TIDE_SHARD ? What::shard : What::full;
  if (w.memory == "malloc") return make_private(w.layout, rows, w.rank, dtype);
  if (w.group == nullptr)
    return make_in(w.layout, rows, w.rank, dtype, true,
                   [&](std::int64_t bytes) { return gpu::mapped(w.gpu->device, bytes); });
  return make_tide(w.tide_comm, w.group, what, dtype, keys_of(w, share));
}

}  // namespace

void check_memory(const Options& o, const Workload& w, bool allgather) {
  const int sharing = o.on_device() ? w.gpu->sharing : host_of(w.comm).ranks;
  const double gib = 1024.0 * 1024 * 1024;
  const double needed =
      lists_in_memory(o, w, allgather) * static_cast<double>(w.list->full_bytes()) * sharing;
  MPI_Barrier(w.comm);  // nobody's share is taken before all have looked
  const auto available =
      static_cast<double>(o.on_device() ? gpu::available_bytes() : available_bytes());
  const bool fits = available < 0 || needed < 0.9 * available;
  tools::agree(w.comm,
               fits ? ""
                    : fmt::format("about {:.1f} GiB are needed on this {} for {} ranks and "
                                  "{:.1f} are available; use a smaller --mib or fewer --baselines",
                                  needed / gib, o.on_device() ? "device" : "host", sharing,
                                  available / gib));
}

void fill_allgather(Workload& w) {
  w.shards = make(w, MPIX_TIDE_SHARD, 0, "none");
  w.params = make(w, MPIX_TIDE_FULL, 0, w.share);
  // On a device each baseline has its own.
  if (w.memory != "cuda") w.own_params = make_private(w.layout, What::full, w.rank, 0);
  poison(w.layout, w.params, What::full, w.rank, 0);
  for (int p = 0; p < w.layout.nparams(); ++p) {
    const int dtype = w.layout.param(p).dtype;
    const std::int64_t first = w.layout.first_elem(p, w.rank), elems = w.layout.elems(p, w.rank);
    write(w.shards, p, elems * static_cast<std::int64_t>(elem_bytes(dtype)),
          [&](void* at) { fill_bits(at, dtype, p, first, elems); });
  }
}

void fill_reduce_scatter(Workload& w) {
  w.grads = make(w, MPIX_TIDE_GRAD, 0, "none");
  w.reduced = make(w, MPIX_TIDE_SHARD, w.out_dtype, "none");
  if (w.memory != "cuda") w.own_reduced = make_private(w.layout, What::shard, w.rank, w.out_dtype);
  poison(w.layout, w.reduced, What::shard, w.rank, w.out_dtype);
  for (int p = 0; p < w.layout.nparams(); ++p) {
    const int dtype = w.layout.param(p).dtype;
    const std::int64_t elems = w.layout.param(p).elems();
    write(w.grads, p, elems * static_cast<std::int64_t>(elem_bytes(dtype)),
          [&](void* at) { fill_grads(at, dtype, p, 0, elems, w.rank); });
  }
}

}  // namespace perf
