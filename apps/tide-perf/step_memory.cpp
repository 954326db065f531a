// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "step_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "layout.hpp"
#include "pipeline/schedule.hpp"
#include "plan/plan.hpp"

namespace perf {
namespace {

constexpr int ranks_per_node = 8, layers = 8, parity_slots = 2;
constexpr std::int64_t bf16_bytes = 2, fp32_bytes = 4;

// What the two collectives need of the communicator's workspace, the largest over ranks.
// MPIX_Tide_group_create reserves the larger one.
struct Workspace {
  std::int64_t gather, reduce;
  std::int64_t bytes() const { return std::max(gather, reduce); }
};
Workspace workspace_of(const ParamList& list, int ranks) {
  const int nodes = (ranks + ranks_per_node - 1) / ranks_per_node;
  const tide::Topology t =
      tide::Topology::of_sizes(std::vector<int>(static_cast<std::size_t>(nodes), ranks / nodes));
  std::vector<tide::Shape> shapes;
  for (const Param& p : list.params) shapes.push_back({p.rows, p.row_elems, p.block_rows});
  const auto rows = tide::Rows::chunk(ranks, shapes);
  const auto layout = [&](std::int64_t bytes) {
    return tide::Layout(t, rows,
                        std::vector<std::uint8_t>(shapes.size(), static_cast<std::uint8_t>(bytes)));
  };
  const tide::Layout gathered = layout(bf16_bytes), sums = layout(fp32_bytes);
  const tide::Options options;
  const bool raw = tide::reduce_scatter_is_raw(t, sums, gathered, options);
  const tide::Plan gather = tide::plan_allgather(t, gathered, {}, options, 0),
                   reduce =
                       tide::plan_reduce_scatter(t, raw ? gathered : sums, raw, {}, options, 0);
  const auto bytes = [](std::size_t of_a_call) {
    return parity_slots * static_cast<std::int64_t>(of_a_call);
  };
  return {bytes(gather.need.total()), bytes(std::max(reduce.need.total(), reduce.places.total()))};
}

std::int64_t slot_bytes(std::int64_t group_bytes, tide::PipelineMode mode, int prefetch) {
  tide::PipelineShape shape;
  shape.mode = mode;
  shape.prefetch = prefetch;
  for (int l = 0; l < layers; l++) {
    shape.layers.push_back({group_bytes, group_bytes, false, false});
    shape.forward.push_back(l);
    shape.backward.insert(shape.backward.begin(), l);
  }
  return tide::make_schedule(shape).total_bytes();
}

// FSDP2 beside its parameters and gradients: the all-gather's flat output in bf16 and the
// reduce-scatter's flat input in fp32, both padded to equal shards.
std::int64_t stock_bytes(const ParamList& list, int ranks) {
  const Layout layout(list, ranks);
  std::int64_t elems = 0;
  for (int p = 0; p < layout.nparams(); p++) elems += ranks * layout.padded_elems(p);
  return elems * (bf16_bytes + fp32_bytes);
}

std::string row(const ParamList& list, int ranks) {
  const std::int64_t ns = list.full_bytes(), live = 2 * ns;
  const Workspace workspace = workspace_of(list, ranks);
  std::string text =
      fmt::format("  {:>5}  {:>9.3f}", ranks,
                  static_cast<double>(stock_bytes(list, ranks)) / static_cast<double>(ns));
  for (const auto mode : {tide::PipelineMode::in_place, tide::PipelineMode::slot_reuse})
    for (const int prefetch : {0, 1}) {
      const std::int64_t extra = slot_bytes(ns, mode, prefetch) - live + workspace.bytes();
      text += fmt::format("  {:>9.3f}", static_cast<double>(extra) / static_cast<double>(ns));
    }
  return text + fmt::format("  {:>9.3f}  {:>9.3f}\n",
                            static_cast<double>(workspace.gather) / static_cast<double>(ns),
                            static_cast<double>(workspace.reduce) / static_cast<double>(ns));
}

}  // namespace

std::string step_memory_text(const std::vector<ParamList>& lists) {
  std::string text = fmt::format(
      "Peak bytes of a training step per rank, beyond one layer's parameters and gradients (2 "
      "NS).\n"
      "{} equal layers of each list in bf16, {} ranks a node; in NS, the layer's own bytes.  "
      "FSDP2:\n"
      "its rule, 3 NS, with the padding of its flat buffers.  Tide: slots of MPIX_Tide_pipeline "
      "and\n"
      "the larger of the collectives' workspaces (last columns), without and with a prefetch of "
      "one "
      "visit.\n",
      layers, ranks_per_node);
  for (const ParamList& list : lists) {
    text += fmt::format(
        "\n{}: {} (NS = {:.1f} MiB)\n  ranks      FSDP2   In-Place  and ahead  SlotReuse  and "
        "ahead  "
        "ws gather  ws reduce\n",
        list.name, list.description, static_cast<double>(list.full_bytes()) / (1 << 20));
    for (const int ranks : {8, 16, 64}) text += row(list, ranks);
  }
  return text;
}

}  // namespace perf
