// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The whole use of Tide: a pipeline gathers the layers ahead of their visits and reduces their
// gradients into shards; replicas average those.
#include <mpix_tide.h>

#include "agreement.hpp"
#include "bf16.hpp"
#include "weights.hpp"

namespace train {
namespace {

const auto check = tools::check_tide;

// The two communicators of hybrid sharding; the second is null where there is one replica.
struct Grid2 {
  MPI_Comm shard = MPI_COMM_NULL, replica = MPI_COMM_NULL;
};

Grid2 split(MPI_Comm comm, int replicas) {
  Grid2 grid;
  int ranks;
  MPI_Comm_size(comm, &ranks);
  if (ranks % replicas != 0)
    throw tools::AgreedError("--replicas " + std::to_string(replicas) + " does not divide the " +
                             std::to_string(ranks) + " ranks");
  if (replicas == 1)
    MPI_Comm_dup(comm, &grid.shard);
  else
    check(MPIX_Tide_comm_grid(comm, ranks / replicas, &grid.shard, &grid.replica),
          "MPIX_Tide_comm_grid");
  return grid;
}

class Sharded : public Weights {
 public:
  Sharded(MPI_Comm comm, Grid2 grid, const Architecture& architecture, const Options& options);
  ~Sharded() override;
  void begin() override;
  void finish(bool gradients) override;
  Planned planned() const override;

 private:
  void load(int layer, bool backward, float* const* values) override;
  void take(int layer, const float* const* grads, bool first, bool last) override;
  void average_replicas();
  Grid2 grid_;
  MPIX_Tide_pipeline pipeline_ = MPIX_TIDE_PIPELINE_NULL;
  std::vector<void*> gathered_, grads_;  // of the layer at work, in the pipeline's slots
};

Sharded::Sharded(MPI_Comm comm, Grid2 grid, const Architecture& architecture,
                 const Options& options)
    : Weights(comm, grid.shard, architecture, ""), grid_(grid) {
  MPIX_Tide_schedule schedule = {};
  schedule.nlayers = int(groups_.size());
  schedule.groups = groups_.data();
  schedule.nforward = int(architecture.forward.size());
  schedule.forward = architecture.forward.data();
  schedule.mode = options.slot_reuse ? MPIX_TIDE_SLOT_REUSE_MODE : MPIX_TIDE_IN_PLACE_MODE;
  schedule.prefetch = options.prefetch;
  schedule.reshard_after_forward = 1;
  MPI_Info info = MPI_INFO_NULL;
  if (options.node_shared) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "tide_share", "node");
  }
  const int code = MPIX_Tide_pipeline_create(&schedule, info, &pipeline_);
  if (options.node_shared) MPI_Info_free(&info);
  check(code, "MPIX_Tide_pipeline_create");
  size_t most = 0;
  for (int l = 0; l < schedule.nlayers; ++l) {
    check(MPIX_Tide_pipeline_bind(pipeline_, l, MPIX_TIDE_INPUTS(list(master, l)), list(grad, l)),
          "MPIX_Tide_pipeline_bind");
    most = std::max(most, layers()[l].tensors.size());
  }
  gathered_.resize(most);
  grads_.resize(most);
}

Sharded::~Sharded() {
  if (pipeline_ != MPIX_TIDE_PIPELINE_NULL) MPIX_Tide_pipeline_free(&pipeline_);
  MPI_Comm_free(&grid_.shard);  // Tide keeps what the groups need of it
  if (grid_.replica != MPI_COMM_NULL) MPI_Comm_free(&grid_.replica);
}

void Sharded::begin() {
  Weights::begin();
  const Timer timer(exposed_.gather);
  check(MPIX_Tide_pipeline_begin(pipeline_, 0, nullptr), "MPIX_Tide_pipeline_begin");
}

// The visit's parameters are expanded at once.  A backward visit lets them go after its gradients
// have a place: with Slot-Reuse that may be here.
void Sharded::load(int l, bool backward, float* const* values) {
  {
    const Timer timer(exposed_.gather);
    check(MPIX_Tide_pipeline_gather(pipeline_, l, gathered_.data(), nullptr),
          "MPIX_Tide_pipeline_gather");
  }
  for (size_t p = 0; values && p < layers()[l].tensors.size(); ++p)
    expand_bf16(static_cast<const Bf16*>(gathered_[p]), layers()[l].tensors[p].elems(), values[p]);
  if (!backward)
    check(MPIX_Tide_pipeline_release(pipeline_, l, nullptr), "MPIX_Tide_pipeline_release");
}

void Sharded::take(int l, const float* const* grads, bool first, bool) {
  {
    const Timer timer(exposed_.reduce);
    check(MPIX_Tide_pipeline_grads(pipeline_, l, grads_.data(), nullptr),
          "MPIX_Tide_pipeline_grads");
  }
  for (size_t p = 0; p < layers()[l].tensors.size(); ++p)  // at first they are zero
    store_bf16(grads[p], layers()[l].tensors[p].elems(), !first, static_cast<Bf16*>(grads_[p]));
  const Timer timer(exposed_.reduce);
  check(MPIX_Tide_pipeline_release(pipeline_, l, nullptr), "MPIX_Tide_pipeline_release");
  check(MPIX_Tide_pipeline_reduce(pipeline_, l, MPIX_TIDE_FP32, MPIX_TIDE_AVG, 1.0, nullptr),
        "MPIX_Tide_pipeline_reduce");
}

void Sharded::finish(bool gradients) {
  {
    const Timer timer(gradients ? exposed_.reduce : exposed_.gather);
    check(MPIX_Tide_pipeline_finish(pipeline_, nullptr), "MPIX_Tide_pipeline_finish");
  }
  if (gradients && grid_.replica != MPI_COMM_NULL) average_replicas();
}

void Sharded::average_replicas() {
  const Timer timer(exposed_.other);
  std::vector<MPIX_Tide_request> requests(groups_.size(), MPIX_TIDE_REQUEST_NULL);
  for (size_t l = 0; l < groups_.size(); ++l)
    check(MPIX_Tide_ireplica_allreduce(list(grad, int(l)), MPIX_TIDE_FP32, MPIX_TIDE_AVG, 1.0,
                                       groups_[l], grid_.replica, &requests[l]),
          "MPIX_Tide_ireplica_allreduce");
  check(MPIX_Tide_waitall(int(requests.size()), requests.data()), "MPIX_Tide_waitall");
}

Planned Sharded::planned() const {
  Planned planned = Weights::planned();
  MPI_Count parameters, gradients, workspace;
  check(MPIX_Tide_pipeline_sizes(pipeline_, &parameters, &gradients, &workspace),
        "MPIX_Tide_pipeline_sizes");
  planned.parameters = parameters;
  planned.gradients = gradients;
  planned.workspace = workspace;
  return planned;
}

}  // namespace

std::unique_ptr<Weights> make_sharded(MPI_Comm comm, const Architecture& architecture,
                                      const Options& options) {
  return std::make_unique<Sharded>(comm, split(comm, options.replicas), architecture, options);
}

}  // namespace train
