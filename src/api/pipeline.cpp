// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The training pipeline.
#include "pipeline/pipeline.hpp"
#include "api/guard.hpp"
#include "api/next_call.hpp"

using namespace tide;

namespace {

Handles<MPIX_Tide_pipeline, Pipeline>& pipelines() {
  static auto& live = *new Handles<MPIX_Tide_pipeline, Pipeline>;
  return live;
}

// Raised on the communicator of its groups.
int guard_pipeline(MPIX_Tide_pipeline handle, const std::function<void(Pipeline&)>& act,
                   void* stream = nullptr) {
  const auto keep = pipelines().find(handle);
  if (!keep)
    return guard_local([] {
      throw Error(Kind::arg,
                  "pipeline: not a live pipeline (null, or freed); pass one from "
                  "MPIX_Tide_pipeline_create");
    });
  return guard(keep->group(), [&] {
    const Pipeline::Busy busy(*keep, stream);
    keep->check_stream();
    act(*keep);
  });
}

void check_schedule_pointer(const MPIX_Tide_schedule* schedule) {
  if (!schedule)
    throw Error(Kind::arg, "schedule is NULL; pass the address of an MPIX_Tide_schedule");
  if (schedule->nlayers < 1)
    throw Error(Kind::arg, "nlayers is {}; pass at least 1", schedule->nlayers);
  if (!schedule->groups)
    throw Error(Kind::arg, "groups is NULL although nlayers is {}; pass a group for each layer",
                schedule->nlayers);
}

// Over whose communicator the ranks hear of a wrong schedule: the first group of it that lives, or
// one of the only communicator that has groups.  Null: there is nobody to tell.
std::shared_ptr<Group> group_to_tell(const MPIX_Tide_schedule* schedule) {
  for (int l = 0; schedule && schedule->groups && l < schedule->nlayers; l++)
    if (auto found = groups().find(schedule->groups[l])) return found;
  std::shared_ptr<Group> any;
  bool several = false;
  groups().each([&](const std::shared_ptr<Group>& group) {
    several |= any && &any->context() != &group->context();
    any = group;
  });
  return several ? nullptr : any;
}

}  // namespace

extern "C" {

int PMPIX_Tide_pipeline_create(const MPIX_Tide_schedule* schedule, MPI_Info info,
                               MPIX_Tide_pipeline* pipeline) {
  const auto wrong = take_wrong();
  const auto first = group_to_tell(schedule);
  const auto check = [&] {
    if (wrong) throw *wrong;
    check_schedule_pointer(schedule);
    if (!first) throw Error(Kind::arg, "layer 0: groups[0] is not a live group; create one");
    if (!pipeline) throw Error(Kind::arg, "pipeline is NULL; pass the address of a handle");
  };
  if (!first) return guard_local(check);
  return guard(*first, [&] {
    auto made = Pipeline::create(*first, [&] {
      check();
      std::vector<std::shared_ptr<Group>> list;
      for (int l = 0; l < schedule->nlayers; l++)
        list.push_back(groups().find(schedule->groups[l]));
      return read_description(*schedule, list, info);
    });
    *pipeline = pipelines().add(std::move(made));
  });
}

int PMPIX_Tide_pipeline_sizes(MPIX_Tide_pipeline pipeline, MPI_Count* param_bytes,
                              MPI_Count* grad_bytes, MPI_Count* workspace_bytes) {
  return guard_pipeline(pipeline, [&](Pipeline& p) {
    if (param_bytes) *param_bytes = p.schedule().param_bytes;
    if (grad_bytes) *grad_bytes = p.schedule().grad_bytes;
    if (workspace_bytes) *workspace_bytes = static_cast<MPI_Count>(p.workspace_bytes());
  });
}

int PMPIX_Tide_pipeline_bind(MPIX_Tide_pipeline pipeline, int layer, const void* const* shards,
                             void* const grad_shards[]) {
  const ToldLists told = take_lists();
  return guard_pipeline(pipeline, [&](Pipeline& p) { p.bind(layer, shards, grad_shards, told); });
}

int PMPIX_Tide_pipeline_begin(MPIX_Tide_pipeline pipeline, int flags, void* stream) {
  return guard_pipeline(
      pipeline,
      [&](Pipeline& p) {
        if (flags & ~MPIX_TIDE_NO_SYNC)
          throw Error(Kind::arg, "flags is {}; use 0 or MPIX_TIDE_NO_SYNC", flags);
        p.begin((flags & MPIX_TIDE_NO_SYNC) != 0);
      },
      stream);
}

int PMPIX_Tide_pipeline_gather(MPIX_Tide_pipeline pipeline, int layer, void* params[],
                               void* stream) {
  return guard_pipeline(
      pipeline, [&](Pipeline& p) { p.gather(layer, params); }, stream);
}

int PMPIX_Tide_pipeline_release(MPIX_Tide_pipeline pipeline, int layer, void* stream) {
  return guard_pipeline(
      pipeline, [&](Pipeline& p) { p.release(layer); }, stream);
}

int PMPIX_Tide_pipeline_grads(MPIX_Tide_pipeline pipeline, int layer, void* grads[], void* stream) {
  return guard_pipeline(
      pipeline, [&](Pipeline& p) { p.grads(layer, grads); }, stream);
}

int PMPIX_Tide_pipeline_reduce(MPIX_Tide_pipeline pipeline, int layer, int out_dtype, int op,
                               double scale, void* stream) {
  return guard_pipeline(
      pipeline, [&](Pipeline& p) { p.reduce(layer, out_dtype, op, scale); }, stream);
}

int PMPIX_Tide_pipeline_finish(MPIX_Tide_pipeline pipeline, void* stream) {
  return guard_pipeline(
      pipeline, [&](Pipeline& p) { p.finish(); }, stream);
}

int PMPIX_Tide_pipeline_free(MPIX_Tide_pipeline* pipeline) {
  if (!pipeline || !pipelines().remove(*pipeline))
    return guard_local([&] {
      throw Error(Kind::arg,
                  "pipeline: not a live pipeline (null, or freed); pass the address of one");
    });
  *pipeline = MPIX_TIDE_PIPELINE_NULL;
  return MPI_SUCCESS;
}
}

TIDE_ALIAS(pipeline_create)
TIDE_ALIAS(pipeline_sizes)
TIDE_ALIAS(pipeline_bind)
TIDE_ALIAS(pipeline_begin)
TIDE_ALIAS(pipeline_gather)
TIDE_ALIAS(pipeline_release)
TIDE_ALIAS(pipeline_grads)
TIDE_ALIAS(pipeline_reduce)
TIDE_ALIAS(pipeline_finish)
TIDE_ALIAS(pipeline_free)
