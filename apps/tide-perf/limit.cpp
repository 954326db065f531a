// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>

#include "contest.hpp"
#include "dtypes.hpp"
#include "patterns.hpp"

// The bound that this machine's memory sets, measured in the same run.
//   All-gather: each rank copies an S-byte source N times to private places; with node-shared
//   storage a node's parameters exist once, so a rank writes only its part of them.
//   Reduce-scatter: each rank reads N slices and writes its sums once, all in private memory.
// Both use the faster of cached and non-temporal stores, and neither waits for another rank.
namespace perf {
namespace {

struct Copies {
  Bytes source, places;
  std::int64_t bytes, count;
};

void copy_all(const Copies& x, Store store) {
  for (std::int64_t k = 0; k < x.count; ++k)
    copy_bytes(x.places.get() + k * x.bytes, x.source.get(), static_cast<std::size_t>(x.bytes),
               store);
}

struct Slices {
  std::vector<std::int64_t> offsets;  // of each parameter in a slice
  std::int64_t bytes;                 // of a slice
  Bytes data;
};

void sum_all(const Workload& w, const Slices& x, Store store) {
  std::vector<const void*> slices(static_cast<std::size_t>(w.ranks));
  for (int p = 0; p < w.layout.nparams(); ++p) {
    for (int r = 0; r < w.ranks; ++r)
      slices[static_cast<std::size_t>(r)] =
          x.data.get() + r * x.bytes + x.offsets[static_cast<std::size_t>(p)];
    sum_slices(w.own_reduced[p], w.out_of(p), slices.data(), w.ranks, w.layout.param(p).dtype,
               w.acc_dtype, static_cast<std::size_t>(w.layout.elems(p, w.rank)), store);
  }
}

}  // namespace

std::string int_count_problem(const char* call, std::int64_t count) {
  if (count <= INT_MAX) return "";
  return fmt::format("left out: {} items are more than {} can count ({})", count, call, INT_MAX);
}

MPI_Datatype acc_type(const Workload& w) {
  return w.acc_dtype == MPIX_TIDE_FP64 ? MPI_DOUBLE : MPI_FLOAT;
}

Store faster_store(const std::function<void(Store)>& loop) {
  const auto best_of_four = [&](Store store) {
    using Clock = std::chrono::steady_clock;
    Clock::duration best = Clock::duration::max();
    for (int k = 0; k < 4; ++k) {
      const auto begin = Clock::now();
      loop(store);
      best = std::min(best, Clock::now() - begin);
    }
    return best;
  };
  const auto cached = best_of_four(Store::cached);
  return best_of_four(Store::streaming) < cached ? Store::streaming : Store::cached;
}

Contestant limit_allgather(Workload& w) {
  Contestant c{"limit", ""};
  Copies x;
  x.bytes = w.layout.exact_offsets(w.rank, 0).back();
  // The share of the node's N shards that falls on one of its ranks.
  const int writers = w.share == "node" ? w.topology.local_size : 1;
  x.count = (w.ranks + writers - 1) / writers;
  x.source = make_bytes(x.bytes, 0x5a);
  x.places = make_bytes(x.count * x.bytes);
  MPI_Barrier(w.comm);
  const Store store = faster_store([&](Store how) { copy_all(x, how); });
  c.what = fmt::format("bound: {} private copies of a shard ({} stores)", x.count,
                       store == Store::streaming ? "non-temporal" : "cached");
  c.run = [x, store] { copy_all(x, store); };
  c.clear = [x] { std::memset(x.places.get(), 0xcd, static_cast<std::size_t>(x.count * x.bytes)); };
  c.verify = [x]() -> std::string {
    for (std::int64_t k = 0; k < x.count; ++k)
      if (std::memcmp(x.places.get() + k * x.bytes, x.source.get(),
                      static_cast<std::size_t>(x.bytes)) != 0)
        return fmt::format("copy {} differs from its source", k);
    return "";
  };
  return c;
}

Contestant limit_reduce_scatter(Workload& w) {
  Contestant c{"limit", ""};
  Slices x{w.layout.exact_offsets(w.rank, 0), 0, nullptr};
  x.bytes = x.offsets.back();
  x.data = make_bytes(w.ranks * x.bytes, 0);
  for (int p = 0; p < w.layout.nparams(); ++p)
    for (int r = 0; r < w.ranks; ++r)
      fill_grads(x.data.get() + r * x.bytes + x.offsets[static_cast<std::size_t>(p)],
                 w.layout.param(p).dtype, p, w.layout.first_elem(p, w.rank),
                 w.layout.elems(p, w.rank), r);
  MPI_Barrier(w.comm);
  const Store store = faster_store([&](Store how) { sum_all(w, x, how); });
  c.what = fmt::format("bound: sum of {} private slices ({} stores)", w.ranks,
                       store == Store::streaming ? "non-temporal" : "cached");
  c.run = [&w, x, store] { sum_all(w, x, store); };
  c.clear = [&w] { poison(w.layout, w.own_reduced, What::shard, w.rank, w.out_dtype); };
  c.verify = [&w] { return check_shards(w.layout, w.own_reduced, w.out_dtype, w.rank); };
  return c;
}

}  // namespace perf
