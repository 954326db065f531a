// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "training.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace tide_test {

std::vector<MPIX_Tide_param> layer_list(int layer) {
  const int master = types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16);
  return {param(7 + 3 * layer, 5, MPIX_TIDE_BF16, master),
          param(1, 3 + layer),
          param(0, 4),
          param(201 + 100 * (layer % 2), 16, MPIX_TIDE_BF16, master),
          param(5, 2, MPIX_TIDE_FP32, types_of(MPIX_TIDE_FP32, MPIX_TIDE_NOGRAD)),
          param(33, 7, MPIX_TIDE_FP32)};
}

Training::Training(const Team& team, const Plan& plan, MPI_Info pipeline_info, MPI_Info group_info)
    : team_(team), random_(static_cast<unsigned>(31 + team.rank)) {
  std::vector<MPIX_Tide_group> groups;
  for (int l = 0; l < plan.layers; l++) {
    lists.push_back(std::make_unique<List>(team, layer_list(plan.even ? 1 : l), group_info));
    const List& list = *lists.back();
    groups.push_back(list.group());
    Layer layer;
    const auto make = [&](std::vector<size_t> bytes) {
      return std::make_unique<Pieces>(team, Memory::tide, std::move(bytes));
    };
    layer.shards = make(list.shard_bytes());
    layer.sums = make(list.out_bytes(MPIX_TIDE_FP32));
    layer.expected = make(list.out_bytes(MPIX_TIDE_FP32));
    layer.params = make(list.full_bytes());
    layer.grads = make(list.grad_bytes());
    layer.grads->fill(0);
    layer.sums->fill(0);
    layer.expected->fill(0);
    layer.frozen = !plan.flags.empty() && (plan.flags[static_cast<size_t>(l)] & 2);
    layers_.push_back(std::move(layer));
  }
  MPIX_Tide_schedule schedule{};
  schedule.nlayers = plan.layers;
  schedule.groups = groups.data();
  schedule.layer_flags = plan.flags.empty() ? nullptr : plan.flags.data();
  schedule.nforward = static_cast<int>(plan.forward.size());
  schedule.forward = plan.forward.empty() ? nullptr : plan.forward.data();
  schedule.nbackward = static_cast<int>(plan.backward.size());
  schedule.backward = plan.backward.empty() ? nullptr : plan.backward.data();
  if (plan.no_backward) schedule.backward = groups.empty() ? nullptr : &schedule.nforward;
  schedule.mode = plan.mode;
  schedule.prefetch = plan.prefetch;
  schedule.reshard_after_forward = plan.reshard;
  TIDE_OK(MPIX_Tide_pipeline_create(&schedule, pipeline_info, &pipeline));
  for (int l = 0; l < plan.layers; l++) {
    const Layer& layer = layers_[static_cast<size_t>(l)];
    TIDE_OK(MPIX_Tide_pipeline_bind(pipeline, l, MPIX_TIDE_INPUTS(layer.shards->list()),
                                    layer.frozen ? nullptr : layer.sums->list()));
  }
  visits_ = plan.forward;
  for (int l = 0; plan.forward.empty() && l < plan.layers; l++) visits_.push_back(l);
  forward_ = static_cast<int>(visits_.size());
  const std::vector<int> reverse(visits_.rbegin(), visits_.rend());
  const std::vector<int>& back = plan.backward.empty() ? reverse : plan.backward;
  if (!plan.no_backward) visits_.insert(visits_.end(), back.begin(), back.end());
}

Training::~Training() {
  if (pipeline != MPIX_TIDE_PIPELINE_NULL) TIDE_OK(MPIX_Tide_pipeline_free(&pipeline));
}

void Training::new_shards() {
  step_++;
  for (size_t l = 0; l < layers_.size(); l++) {
    const List& list = *lists[l];
    for (size_t p = 0; p < list.count(); p++)
      for (size_t i = 0; i < list.shard_elems(p); i++) {
        const int dtype = shard_dtype(list.params()[p]);
        const uint64_t bits = mix(step_, l, p, list.first_elem(p, team_.rank) + i);
        store(dtype, static_cast<char*>((*layers_[l].shards)[p]) + i * size_of(dtype),
              static_cast<double>(bits % 4001) / 37 - 50);
      }
    TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(layers_[l].shards->list()),
                                layers_[l].params->list(), list.group()));
  }
}

void Training::compute() {
  if (random_() % 3 == 0) usleep(random_() % 700);
}

void Training::check_params(int v, void* const params[], const char* when) const {
  const auto l = static_cast<size_t>(layer(v));
  for (size_t p = 0; p < lists[l]->count(); p++) {
    const size_t bytes = layers_[l].params->bytes(p);
    if (!bytes) {
      EXPECT_EQ(nullptr, params[p]) << "parameter " << p;
      continue;
    }
    ASSERT_NE(nullptr, params[p]);
    EXPECT_EQ(0, std::memcmp(params[p], (*layers_[l].params)[p], bytes))
        << "visit " << v << ", layer " << l << ", parameter " << p << ", " << when << ", step "
        << step_;
  }
}

void Training::check_grads(int v, void* const grads[], const char* when) const {
  const auto l = static_cast<size_t>(layer(v));
  for (size_t p = 0; p < lists[l]->count(); p++) {
    const size_t bytes = layers_[l].grads->bytes(p);
    if (!bytes) {
      EXPECT_EQ(nullptr, grads[p]) << "parameter " << p;
      continue;
    }
    ASSERT_NE(nullptr, grads[p]);
    EXPECT_EQ(0, std::memcmp(grads[p], (*layers_[l].grads)[p], bytes))
        << "visit " << v << ", layer " << l << ", gradient " << p << ", " << when << ", step "
        << step_;
  }
}

// The same values, in the same order, to both.
void Training::add_grads(int v, void* const grads[]) {
  const auto l = static_cast<size_t>(layer(v));
  for (size_t p = 0; p < lists[l]->count(); p++) {
    if (!layers_[l].grads->bytes(p)) continue;
    const int dtype = grad_dtype(lists[l]->params()[p]);
    for (size_t i = 0; i < lists[l]->full_elems(p); i++) {
      const uint64_t bits = mix(step_, static_cast<uint64_t>(v * 64 + team_.rank), p, i);
      const double value = static_cast<double>(bits % 2003) / 17 - 60;
      for (void* list : {grads[p], (*layers_[l].grads)[p]}) {
        char* at = static_cast<char*>(list) + i * size_of(dtype);
        store(dtype, at, load(dtype, at) + value);
      }
    }
  }
}

int Training::begin(bool no_sync) {
  return MPIX_Tide_pipeline_begin(pipeline, no_sync ? MPIX_TIDE_NO_SYNC : 0, nullptr);
}

void Training::visit(int v, const Reduction& r) {
  const int l = layer(v);
  std::vector<void*> params(lists[static_cast<size_t>(l)]->count()), again = params, grads = params;
  const bool trains = v >= forward_ && !layers_[static_cast<size_t>(l)].frozen;
  TIDE_OK(MPIX_Tide_pipeline_gather(pipeline, l, params.data(), nullptr));
  check_params(v, params.data(), "after gather");
  compute();
  TIDE_OK(MPIX_Tide_pipeline_gather(pipeline, l, again.data(), nullptr));
  EXPECT_EQ(params, again);
  if (trains) {
    TIDE_OK(MPIX_Tide_pipeline_grads(pipeline, l, grads.data(), nullptr));
    check_grads(v, grads.data(), "after grads");
    add_grads(v, grads.data());
    TIDE_OK(MPIX_Tide_pipeline_grads(pipeline, l, again.data(), nullptr));
    EXPECT_EQ(grads, again);
  }
  compute();
  check_params(v, params.data(), "before release");
  if (trains) check_grads(v, grads.data(), "before reduce");
  if (v % 2) TIDE_OK(MPIX_Tide_pipeline_release(pipeline, l, nullptr));
  if (trains) TIDE_OK(MPIX_Tide_pipeline_reduce(pipeline, l, r.out_dtype, r.op, r.scale, nullptr));
  if (v % 2 == 0) TIDE_OK(MPIX_Tide_pipeline_release(pipeline, l, nullptr));
}

// grad_shards against the plain reduce-scatter of the same gradients.
void Training::expect_results(const Reduction& r) {
  for (size_t l = 0; l < layers_.size(); l++) {
    const bool trained =
        std::find(visits_.begin() + forward_, visits_.end(), static_cast<int>(l)) != visits_.end();
    if (layers_[l].frozen || !trained) continue;
    TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(layers_[l].grads->list()),
                                     layers_[l].expected->list(), r.out_dtype, r.op, r.scale,
                                     lists[l]->group()));
    layers_[l].grads->fill(0);
    for (size_t p = 0; p < lists[l]->count(); p++) {
      if (!layers_[l].sums->bytes(p)) continue;
      EXPECT_EQ(0, std::memcmp((*layers_[l].sums)[p], (*layers_[l].expected)[p],
                               layers_[l].sums->bytes(p)))
          << "layer " << l << ", result " << p << ", step " << step_;
    }
    layers_[l].sums->expect_margins("results");
    layers_[l].shards->expect_margins("shards");
  }
}

void Training::micro_batch(bool no_sync, const Reduction& reduction) {
  new_shards();
  TIDE_OK(begin(no_sync));
  for (int v = 0; v < visits(); v++) visit(v, reduction);
  TIDE_OK(MPIX_Tide_pipeline_finish(pipeline, nullptr));
  if (!no_sync) expect_results(reduction);
}

void Training::evaluation() {
  new_shards();
  TIDE_OK(begin());
  for (int v = 0; v < forward_; v++) visit(v, {});
  TIDE_OK(MPIX_Tide_pipeline_finish(pipeline, nullptr));
}

}  // namespace tide_test
