// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline/description.hpp"

#include <algorithm>

#include "core/agreed_words.hpp"

namespace tide {
namespace {

std::vector<int> read_visits(const char* name, const char* count_name, const int* list, int count,
                             int layers) {
  if (count < 0) throw Error(Kind::count, "{} is {}; pass at least 0", count_name, count);
  std::vector<int> visits(list, list + count);
  for (size_t v = 0; v < visits.size(); v++)
    if (visits[v] < 0 || visits[v] >= layers)
      throw Error(Kind::arg, "{}[{}] is {} but there are {} layers; pass layers 0 to {}", name, v,
                  visits[v], layers, layers - 1);
  return visits;
}

void read_modes(const MPIX_Tide_schedule& s, PipelineShape& shape) {
  if (s.mode != 0 && s.mode != MPIX_TIDE_IN_PLACE_MODE && s.mode != MPIX_TIDE_SLOT_REUSE_MODE)
    throw Error(Kind::arg,
                "mode is {}; use 0, MPIX_TIDE_IN_PLACE_MODE or MPIX_TIDE_SLOT_REUSE_MODE", s.mode);
  if (s.prefetch < 0) throw Error(Kind::arg, "prefetch is {}; pass at least 0 visits", s.prefetch);
  if (s.reshard_after_forward != 0 && s.reshard_after_forward != 1)
    throw Error(Kind::arg, "reshard_after_forward is {}; pass 0 or 1", s.reshard_after_forward);
  for (size_t i = 0; i < std::size(s.reserved); i++)
    if (s.reserved[i] != 0)
      throw Error(Kind::arg, "reserved[{}] is {}; zero-initialise the MPIX_Tide_schedule", i,
                  static_cast<long long>(s.reserved[i]));
  shape.mode =
      s.mode == MPIX_TIDE_SLOT_REUSE_MODE ? PipelineMode::slot_reuse : PipelineMode::in_place;
  shape.prefetch = s.prefetch;
  shape.reshard_after_forward = s.reshard_after_forward != 0;
}

void read_layer(const MPIX_Tide_schedule& s, int l, const std::shared_ptr<Group>& group,
                PipelineDescription& d) {
  const auto at = static_cast<size_t>(l);
  if (!group)
    throw Error(Kind::arg, "layer {}: groups[{}] is not a live group; create one for each layer", l,
                l);
  if (&group->context() != &d.groups[0]->context())
    throw Error(Kind::arg,
                "layer {}: its group is over another communicator than layer 0's; create all "
                "groups of a pipeline over one",
                l);
  for (int other = 0; other < l; other++)
    if (d.groups[static_cast<size_t>(other)] == group)
      throw Error(Kind::arg,
                  "layer {}: its group is layer {}'s, too; name a layer that is used again twice "
                  "in forward and backward instead",
                  l, other);
  const int flags = s.layer_flags ? s.layer_flags[l] : 0;
  if (flags & ~(MPIX_TIDE_LAYER_KEEP | MPIX_TIDE_LAYER_FROZEN))
    throw Error(
        Kind::arg,
        "layer {}: layer_flags is {}; use MPIX_TIDE_LAYER_KEEP | MPIX_TIDE_LAYER_FROZEN, or "
        "0",
        l, flags);
  d.params.push_back(param_pieces(*group));
  d.grads.push_back(grad_pieces(*group));
  d.shape.layers.push_back({d.params[at].bytes, d.grads[at].bytes,
                            (flags & MPIX_TIDE_LAYER_KEEP) != 0,
                            (flags & MPIX_TIDE_LAYER_FROZEN) != 0});
}

void read_info(MPI_Info info, PipelineDescription& d) {
  const Settings settings = Settings::read(info, Setting::alloc);
  if (settings.text("tide_share") == "node" && d.shape.mode == PipelineMode::slot_reuse)
    throw Error(Kind::arg,
                "tide_share = node: in Slot-Reuse mode gradients stand in the slots of parameters, "
                "and those cannot be shared; use MPIX_TIDE_IN_PLACE_MODE or tide_share = none");
  for (const Setting& s : all_settings())
    if (s.scope == Setting::alloc) d.info.emplace_back(s.name, settings.text(s.name));
  if (const std::string kinds = info_value(info, "mpi_memory_alloc_kinds"); !kinds.empty())
    d.info.emplace_back("mpi_memory_alloc_kinds", kinds);
}

AgreedWords words_of(const PipelineDescription& d) {
  AgreedWords w;
  w.add("nlayers", static_cast<int64_t>(d.groups.size()));
  w.add("mode", static_cast<int64_t>(d.shape.mode));
  w.add("prefetch", d.shape.prefetch);
  w.add("reshard_after_forward", d.shape.reshard_after_forward);
  w.add("nforward", static_cast<int64_t>(d.shape.forward.size()));
  w.add("nbackward", static_cast<int64_t>(d.shape.backward.size()));
  for (size_t l = 0; l < d.groups.size(); l++) {
    w.add(fmt::format("layer {}: number of its group", l),
          static_cast<int64_t>(d.groups[l]->number()));
    w.add(fmt::format("layer {}: layer_flags", l),
          (d.shape.layers[l].keep ? MPIX_TIDE_LAYER_KEEP : 0) |
              (d.shape.layers[l].frozen ? MPIX_TIDE_LAYER_FROZEN : 0));
  }
  for (size_t v = 0; v < d.shape.forward.size(); v++)
    w.add(fmt::format("forward[{}]", v), d.shape.forward[v]);
  for (size_t v = 0; v < d.shape.backward.size(); v++)
    w.add(fmt::format("backward[{}]", v), d.shape.backward[v]);
  return w;
}

}  // namespace

PipelineDescription read_description(const MPIX_Tide_schedule& s,
                                     const std::vector<std::shared_ptr<Group>>& groups,
                                     MPI_Info info) {
  PipelineDescription d;
  d.groups = groups;
  read_modes(s, d.shape);
  for (int l = 0; l < s.nlayers; l++) read_layer(s, l, groups[static_cast<size_t>(l)], d);
  if (s.forward)
    d.shape.forward = read_visits("forward", "nforward", s.forward, s.nforward, s.nlayers);
  else
    for (int l = 0; l < s.nlayers; l++) d.shape.forward.push_back(l);
  if (s.backward)
    d.shape.backward = read_visits("backward", "nbackward", s.backward, s.nbackward, s.nlayers);
  else
    d.shape.backward.assign(d.shape.forward.rbegin(), d.shape.forward.rend());
  d.shape.prefetch = std::min(d.shape.prefetch, d.shape.visits());
  read_info(info, d);
  return d;
}

void compare_descriptions(Context& context, const PipelineDescription& mine) {
  compare(context, words_of(mine), "pass the same MPIX_Tide_schedule on all ranks");
}

}  // namespace tide
