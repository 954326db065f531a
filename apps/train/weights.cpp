// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weights.hpp"

#include <algorithm>

#include "agreement.hpp"

namespace train {
namespace {
const auto check = tools::check_tide;
}

// One group per layer: fp32 master shards, gathered as bf16, gradients in bf16.
void Weights::create_group(const Layer& layer, const std::string& prefix) {
  std::vector<MPIX_Tide_param> params;
  std::vector<const char*> names;
  for (const Tensor& t : layer.tensors) {
    params.push_back(
        {t.rows, t.row_elems, 1, MPIX_TIDE_BF16, MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16)});
    names.push_back(t.name.c_str());
  }
  MPIX_Tide_group group;
  check(MPIX_Tide_group_create(shard_, int(params.size()), params.data(), MPI_INFO_NULL, &group),
        "MPIX_Tide_group_create");
  groups_.push_back(group);
  check(MPIX_Tide_group_set_names(group, (prefix + layer.name + ".").c_str(), names.data()),
        "MPIX_Tide_group_set_names");
}

// One piece of memory over all ranks, so that the replicas of a node address each other's, too.
void Weights::allocate() {
  std::vector<std::vector<MPI_Count>> offsets;
  std::vector<MPI_Count> begins;
  for (size_t l = 0; l < groups_.size(); ++l) {
    MPI_Count bytes;
    offsets.emplace_back(layers()[l].tensors.size());
    check(MPIX_Tide_group_offsets(groups_[l], MPIX_TIDE_SHARD, MPIX_TIDE_FP32, 64,
                                  offsets[l].data(), &bytes),
          "MPIX_Tide_group_offsets");
    begins.push_back(bytes_);
    bytes_ += (bytes + 63) / 64 * 64;
  }
  check(MPIX_Tide_alloc(comm_, MPI_Aint(kinds * bytes_), MPI_INFO_NULL, &base_), "MPIX_Tide_alloc");
  for (int kind = 0; kind < kinds; ++kind)
    for (size_t l = 0; l < groups_.size(); ++l) {
      std::vector<void*>& list = shards_[kind].emplace_back();
      for (MPI_Count offset : offsets[l])
        list.push_back(static_cast<char*>(base_) + kind * bytes_ + begins[l] + offset);
    }
}

void Weights::add_pieces(int layer) {
  int rank;
  MPI_Comm_rank(shard_, &rank);
  first_piece_.push_back(pieces_.size());
  const auto at = [&](Kind kind, size_t p) { return static_cast<float*>(shards_[kind][layer][p]); };
  for (size_t p = 0; p < layers()[layer].tensors.size(); ++p) {
    MPI_Count first, rows;
    check(MPIX_Tide_group_shard(groups_[layer], int(p), rank, &first, &rows),
          "MPIX_Tide_group_shard");
    pieces_.push_back({&layers()[layer].tensors[p], first, rows, at(master, p), at(grad, p),
                       at(moment1, p), at(moment2, p)});
  }
}

Weights::Weights(MPI_Comm comm, MPI_Comm shard, const Architecture& architecture,
                 const std::string& prefix)
    : comm_(comm), shard_(shard), architecture_(architecture), values_(architecture.layers) {
  for (const Layer& layer : layers()) create_group(layer, prefix);
  allocate();
  for (size_t l = 0; l < groups_.size(); ++l) add_pieces(int(l));
  visits_.resize(groups_.size());
  for (int layer : architecture_.forward) ++visits_[layer];
}

Weights::~Weights() {  // errors were reported where they arose
  for (MPIX_Tide_group& group : groups_) MPIX_Tide_group_free(&group);
  if (base_) MPIX_Tide_free(comm_, base_);
}

void Weights::begin() { visits_left_ = visits_; }

const float* const* Weights::forward(int layer) {
  float* const* values = values_.of(layers()[layer]);
  load(layer, false, values);
  return values;
}

const float* const* Weights::backward(int layer, bool needed) {
  float* const* values = needed ? values_.of(layers()[layer]) : nullptr;
  load(layer, true, values);
  return values;
}

void Weights::reduce(int layer, const float* const* grads) {
  const bool first = visits_left_[layer] == visits_[layer];
  take(layer, grads, first, --visits_left_[layer] == 0);
}

void Weights::finish(bool) {}

double Weights::norm() {
  const Timer timer(exposed_.other);
  std::vector<void* const*> lists;
  for (size_t l = 0; l < groups_.size(); ++l) lists.push_back(list(grad, int(l)));
  double norm2;
  check(MPIX_Tide_norm2(shard_, int(groups_.size()), groups_.data(), lists.data(), MPIX_TIDE_FP32,
                        &norm2),
        "MPIX_Tide_norm2");
  return norm2;
}

Planned Weights::planned() const {
  Planned planned;
  planned.shards = kinds * bytes_;
  return planned;
}

std::vector<MPIX_Tide_item> Weights::items() {
  std::vector<MPIX_Tide_item> items;
  const struct {
    const char* name;
    Kind kind;
  } saved[] = {{"", master}, {"adam.m", moment1}, {"adam.v", moment2}};
  for (const auto& what : saved)
    for (size_t l = 0; l < groups_.size(); ++l)
      items.push_back({what.name, groups_[l], MPIX_TIDE_FP32, list(what.kind, int(l))});
  return items;
}

}  // namespace train
