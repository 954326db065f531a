// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective.hpp"

#include <algorithm>
#include <utility>

namespace tide {

Types gather_types(const std::vector<Param>& params) {
  Types types;
  for (const Param& p : params) {
    types.param.push_back(p.full);
    types.shard.push_back(p.shard);
  }
  return types;
}

Types reduce_types(const std::vector<Param>& params, int out_dtype) {
  Types types;
  for (const Param& p : params) {
    const Dtype out = p.shard_or(out_dtype);
    types.param.push_back(p.grad);
    types.shard.push_back(out);
    const bool wide = !p.frozen && (p.grad == Dtype::fp64 || out == Dtype::fp64);
    types.acc.push_back(wide ? Dtype::fp64 : Dtype::fp32);
  }
  return types;
}

Plans gather_packing(const Topology& t, const std::shared_ptr<const Rows>& rows,
                     const std::vector<Param>& params) {
  std::vector<uint8_t> bytes;
  for (const Param& p : params) bytes.push_back(static_cast<uint8_t>(bytes_of(p.full)));
  return {Layout(t, rows, std::move(bytes))};
}

Plans reduce_packing(const Topology& t, const std::shared_ptr<const Rows>& rows,
                     const std::vector<Param>& params, const Types& types, const Options& options) {
  std::vector<uint8_t> acc, grad;
  for (size_t p = 0; p < params.size(); p++) {
    acc.push_back(params[p].frozen ? 0 : static_cast<uint8_t>(bytes_of(types.acc[p])));
    grad.push_back(params[p].frozen ? 0 : static_cast<uint8_t>(bytes_of(types.param[p])));
  }
  const Layout partials(t, rows, std::move(acc)), gradients(t, rows, std::move(grad));
  const bool raw = reduce_scatter_is_raw(t, partials, gradients, options);
  return {raw ? gradients : partials, raw};
}

void begin_call(Work& work, const Collective& c) {
  constexpr size_t large = size_t{8} << 20;  // such outputs are stored around the cache
  const bool reduce = !c.types.acc.empty();
  work.plan = &c.plans->direct;
  work.layout = &c.plans->layout;
  work.types = &c.types;
  work.stream =
      (reduce ? work.layout->packed_bytes(work.rank) : work.layout->total_bytes()) >= large;
  work.lanes = {};
  work.puts = 0;
  work.failed = false;
  std::fill(work.sent.begin(), work.sent.end(), 0);
}

}  // namespace tide
