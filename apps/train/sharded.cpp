// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The whole use of Tide: gather a layer, use it, release it; reduce its gradient into shards.
#include <fmt/format.h>
#include <mpix_tide.h>

#include <algorithm>

#include "agreement.hpp"
#include "bf16.hpp"
#include "weights.hpp"

namespace train {
namespace {

const auto check = tools::check_tide;

// One group per layer: fp32 master shards, gathered as bf16, gradients in bf16.
struct Layer {
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  void *master[2] = {}, *grad[2] = {};  // this rank's rows of weight and bias, fp32
  void *master_base = nullptr, *grad_base = nullptr;
  void *gathered[2] = {}, *full_grad[2] = {};  // places in the two slots
  MPI_Count gathered_offset[2] = {}, full_grad_offset[2] = {};
};

class Sharded : public Weights {
 public:
  Sharded(MPI_Comm comm, const std::vector<LayerShape>& shapes, bool node_shared);
  ~Sharded() override;
  void gather(int layer, float* weight, float* bias) override;
  void reduce(int layer, const float* weight_grad, const float* bias_grad) override;
  bool sharded() const override { return true; }

 private:
  void create_layer(const LayerShape& shape, int number);
  void add_pieces(const Layer& layer);
  MPI_Comm comm_;
  std::vector<Layer> groups_;
  MPI_Count slot_bytes_ = 0, grad_slot_bytes_ = 0;  // of the largest layer
  void *slot_ = nullptr, *grad_slot_ = nullptr;     // reused by all layers
  std::vector<float> moments_;
};

void Sharded::create_layer(const LayerShape& shape, int number) {
  const int types = MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16);
  const MPIX_Tide_param params[2] = {{shape.out, shape.in, 1, MPIX_TIDE_BF16, types},
                                     {shape.out, 1, 1, MPIX_TIDE_BF16, types}};
  const char* const names[2] = {"weight", "bias"};
  Layer& layer = groups_.emplace_back();
  check(MPIX_Tide_group_create(comm_, 2, params, MPI_INFO_NULL, &layer.group),
        "MPIX_Tide_group_create");
  check(MPIX_Tide_group_set_names(layer.group, fmt::format("layer{}.", number).c_str(), names),
        "MPIX_Tide_group_set_names");
  check(MPIX_Tide_group_alloc(layer.group, MPIX_TIDE_SHARD, MPIX_TIDE_FP32, MPI_INFO_NULL,
                              layer.master, &layer.master_base),
        "MPIX_Tide_group_alloc");
  check(MPIX_Tide_group_alloc(layer.group, MPIX_TIDE_SHARD, MPIX_TIDE_FP32, MPI_INFO_NULL,
                              layer.grad, &layer.grad_base),
        "MPIX_Tide_group_alloc");
  MPI_Count bytes;
  check(MPIX_Tide_group_offsets(layer.group, MPIX_TIDE_FULL, 0, 64, layer.gathered_offset, &bytes),
        "MPIX_Tide_group_offsets");
  slot_bytes_ = std::max(slot_bytes_, bytes);
  check(MPIX_Tide_group_offsets(layer.group, MPIX_TIDE_GRAD, 0, 64, layer.full_grad_offset, &bytes),
        "MPIX_Tide_group_offsets");
  grad_slot_bytes_ = std::max(grad_slot_bytes_, bytes);
}

void Sharded::add_pieces(const Layer& layer) {
  int rank;
  MPI_Comm_rank(comm_, &rank);
  MPIX_Tide_param params[2];
  check(MPIX_Tide_group_get(layer.group, nullptr, nullptr, params), "MPIX_Tide_group_get");
  for (int p = 0; p < 2; ++p) {
    MPI_Count first, rows;
    check(MPIX_Tide_group_shard(layer.group, p, rank, &first, &rows), "MPIX_Tide_group_shard");
    Piece piece{params[p].rows, params[p].row_elems, first, rows};
    piece.master = static_cast<float*>(layer.master[p]);
    piece.grad = static_cast<float*>(layer.grad[p]);
    pieces_.push_back(piece);
  }
}

Sharded::Sharded(MPI_Comm comm, const std::vector<LayerShape>& shapes, bool node_shared)
    : Weights(shapes), comm_(comm) {
  groups_.reserve(shapes.size());
  for (size_t l = 0; l < shapes.size(); ++l) create_layer(shapes[l], int(l));
  MPI_Info info = MPI_INFO_NULL;
  if (node_shared) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "tide_share", "node");
  }
  const int code = MPIX_Tide_alloc(comm_, slot_bytes_, info, &slot_);
  if (node_shared) MPI_Info_free(&info);
  check(code, "MPIX_Tide_alloc");
  check(MPIX_Tide_alloc(comm_, grad_slot_bytes_, MPI_INFO_NULL, &grad_slot_), "MPIX_Tide_alloc");

  int64_t moments = 0;
  for (Layer& layer : groups_) {
    for (int p = 0; p < 2; ++p) {
      layer.gathered[p] = static_cast<char*>(slot_) + layer.gathered_offset[p];
      layer.full_grad[p] = static_cast<char*>(grad_slot_) + layer.full_grad_offset[p];
    }
    add_pieces(layer);
  }
  for (const Piece& piece : pieces_) moments += 2 * piece.own_elems();
  moments_.resize(moments);
  float* at = moments_.data();
  for (Piece& piece : pieces_) {
    piece.moment1 = at;
    piece.moment2 = at + piece.own_elems();
    at += 2 * piece.own_elems();
  }
}

Sharded::~Sharded() {  // errors were reported where they arose
  for (Layer& layer : groups_) {
    if (layer.master_base) MPIX_Tide_free(comm_, layer.master_base);
    if (layer.grad_base) MPIX_Tide_free(comm_, layer.grad_base);
    if (layer.group != MPIX_TIDE_GROUP_NULL) MPIX_Tide_group_free(&layer.group);
  }
  if (slot_) MPIX_Tide_free(comm_, slot_);
  if (grad_slot_) MPIX_Tide_free(comm_, grad_slot_);
}

void Sharded::gather(int l, float* weight, float* bias) {
  Layer& layer = groups_[l];
  const double start = MPI_Wtime();
  check(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(layer.master), layer.gathered, layer.group),
        "MPIX_Tide_allgather");
  comm_seconds_ += MPI_Wtime() - start;
  const LayerShape& shape = layers_[l];
  const Bf16* from = static_cast<const Bf16*>(layer.gathered[0]);
  for (int64_t e = 0; e < shape.weight_elems(); ++e) weight[e] = from_bf16(from[e]);
  from = static_cast<const Bf16*>(layer.gathered[1]);
  for (int64_t e = 0; e < shape.out; ++e) bias[e] = from_bf16(from[e]);
}

void Sharded::reduce(int l, const float* weight_grad, const float* bias_grad) {
  Layer& layer = groups_[l];
  const LayerShape& shape = layers_[l];
  Bf16* to = static_cast<Bf16*>(layer.full_grad[0]);
  for (int64_t e = 0; e < shape.weight_elems(); ++e) to[e] = to_bf16(weight_grad[e]);
  to = static_cast<Bf16*>(layer.full_grad[1]);
  for (int64_t e = 0; e < shape.out; ++e) to[e] = to_bf16(bias_grad[e]);
  const double start = MPI_Wtime();
  check(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(layer.full_grad), layer.grad, MPIX_TIDE_FP32,
                                 MPIX_TIDE_AVG, 1.0, layer.group),
        "MPIX_Tide_reduce_scatter");
  comm_seconds_ += MPI_Wtime() - start;
}

}  // namespace

std::unique_ptr<Weights> make_sharded(MPI_Comm comm, const std::vector<LayerShape>& layers,
                                      bool node_shared) {
  return std::make_unique<Sharded>(comm, layers, node_shared);
}

}  // namespace train
