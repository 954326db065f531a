// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The calls of a micro-batch: which may come when.  steps.cpp does what the schedule says.
#include "pipeline/pipeline.hpp"

#include <algorithm>
#include <functional>

#include "core/agreed_words.hpp"
#include "core/gate.hpp"
#include "core/progress.hpp"

namespace tide {

std::shared_ptr<Pipeline> Pipeline::create(Group& first,
                                           const std::function<PipelineDescription()>& describe) {
  Context& context = first.context();
  const Context::Setup setup(context, first.limit_s(), SetupCall::pipeline_create);
  PipelineDescription d;
  context.together([&] { d = describe(); });
  compare_descriptions(context, d);
  std::shared_ptr<Pipeline> made;
  context.together([&] {
    made.reset(new Pipeline);
    made->groups_ = std::move(d.groups);
    made->param_pieces_ = std::move(d.params);
    made->grad_pieces_ = std::move(d.grads);
    made->shape_ = std::move(d.shape);
    made->info_ = std::move(d.info);
    made->layers_.resize(made->groups_.size());
    made->plan(false);
  });
  return made;
}

Pipeline::~Pipeline() { wait_for_stream(); }

Pipeline::Busy::Busy(Pipeline& pipeline, gpu::UserStream stream) : pipeline_(pipeline) {
  if (pipeline.busy_.exchange(true))
    throw Error(Kind::request,
                "the pipeline is used by another thread; call its functions from one at a time");
  pipeline.stream_ = stream;
}

// A pipeline that outlives MPI waits for nobody.
void Pipeline::wait_for_stream() {
  if (!finished_ || !Process::usable()) return;
  context().process().progress().wait(context(),
                                      [this] { return finished_->open() || context().broken(); });
  finished_.reset();
}

void Pipeline::check_stream() const {
  if (stream_ && has_memory_ && !storage_.on_device())
    throw Error(
        Kind::unsupported,
        "a stream was passed, but the pipeline's slots are not device memory; create it with "
        "info mpi_memory_alloc_kinds = cuda:device, or pass NULL");
  if (stream_ && gpu::devices() > 0 && gpu::capturing(stream_))
    throw Error(Kind::unsupported,
                "the stream is being captured into a graph, where a pipeline's storage would not "
                "move on from run to run; capture calls on groups, or end the capture first");
}

void Pipeline::plan(bool accumulate) {
  shape_.accumulate = accumulate;
  schedule_ = make_schedule(shape_);
}

size_t Pipeline::workspace_bytes() const {
  size_t bytes = 0;
  for (const auto& group : groups_)
    bytes = std::max({bytes, group->gather_workspace_bytes(), group->reduce_workspace_bytes()});
  return bytes;
}

void Pipeline::check_layer(int layer) const {
  if (layer < 0 || static_cast<size_t>(layer) >= layers_.size())
    throw Error(Kind::arg, "layer is {} but the pipeline has {} layers; pass 0 to {}", layer,
                layers_.size(), layers_.size() - 1);
}

std::string Pipeline::place(int visit) const {
  const int forward = static_cast<int>(shape_.forward.size());
  return visit < forward
             ? fmt::format("forward visit {} of {}", visit + 1, forward)
             : fmt::format("backward visit {} of {}", visit - forward + 1, shape_.backward.size());
}

std::string Pipeline::expected() const {
  const auto call = [](const char* name, int layer) {
    return fmt::format("MPIX_Tide_pipeline_{} of layer {}", name, layer);
  };
  if (!running_) return "MPIX_Tide_pipeline_begin";
  if (visit_ >= 0 && !complete()) {
    std::string text;
    const auto add = [&](const char* name) {
      text += (text.empty() ? "" : " or ") + call(name, visit().layer);
    };
    if (trains() && !opened_) add("grads");
    if (trains() && opened_ && !reduced_) add("reduce");
    if (!released_) add("release");
    return text + fmt::format(" ({})", place(visit_));
  }
  const int next = visit_ + 1;
  if (next == shape_.visits()) return "MPIX_Tide_pipeline_finish";
  std::string text = call("gather", shape_.layer(next)) + fmt::format(" ({})", place(next));
  if (next == static_cast<int>(shape_.forward.size())) text += " or MPIX_Tide_pipeline_finish";
  return text;
}

const char* Pipeline::why_untrained() const {
  return visit().backward ? "the layer is MPIX_TIDE_LAYER_FROZEN" : "this is a forward visit";
}

// The layer's visit is under way.
void Pipeline::check_open(int layer, const char* call) const {
  check_layer(layer);
  if (failed_) throw *failed_;
  if (!running_ || visit_ < 0 || complete() || visit().layer != layer)
    throw Error(Kind::request, "{} of layer {} is not due; expected is {}", call, layer,
                expected());
}

void Pipeline::bind(int which, const void* const* shards, void* const* grad_shards,
                    const ToldLists& told) {
  check_layer(which);
  Layer& l = layer(which);
  const size_t count = groups_[static_cast<size_t>(which)]->params().size();
  const bool frozen = shape_.layers[static_cast<size_t>(which)].frozen;
  if (l.bound)
    throw Error(Kind::request,
                "layer {} is bound already; its shards are bound once: write new values there",
                which);
  if (shards == MPIX_TIDE_IN_PLACE)
    throw Error(Kind::arg,
                "layer {}: MPIX_TIDE_IN_PLACE as shards: parameters live in slots of the pipeline; "
                "pass shards of your own",
                which);
  if (count && (!shards || (!grad_shards && !frozen)))
    throw Error(Kind::arg, "layer {}: {} is NULL; pass {} pointers{}", which,
                shards ? "grad_shards" : "shards", count,
                shards ? " or make the layer MPIX_TIDE_LAYER_FROZEN" : "");
  if (count) l.shards.assign(shards, shards + count);
  if (count && grad_shards) l.grad_shards.assign(grad_shards, grad_shards + count);
  const Group& group = *groups_[static_cast<size_t>(which)];
  if (told.inputs) l.wrong = compare_shards(group, *told.inputs);
  if (told.outputs && grad_shards) {
    l.wrong_results = compare_results(group, *told.outputs);
    if (told.outputs->dtypes && l.wrong_results.good())
      l.result_types.assign(told.outputs->dtypes, told.outputs->dtypes + count);
  }
  l.bound = true;
}

void Pipeline::begin(bool no_sync) {
  if (running_)
    throw Error(Kind::request, "a micro-batch is under way; expected is {}", expected());
  if (!has_memory_ || (no_sync && !shape_.accumulate)) take_memory(no_sync);
  check_stream();
  running_ = true;
  no_sync_ = no_sync;
  visit_ = -1;
  released_ = true;
  opened_ = reduced_ = false;
  failed_.reset();
  run(schedule_.begin);
}

// Nothing is active between micro-batches, so that slots may move; a stream may still read them.
void Pipeline::take_memory(bool no_sync) {
  wait_for_stream();
  const Context::Setup setup(context(), group().limit_s(), SetupCall::pipeline_begin);
  context().together([&] {
    for (size_t l = 0; l < layers_.size(); l++)
      if (!layers_[l].bound)
        throw Error(Kind::request,
                    "layer {} has no shards; call MPIX_Tide_pipeline_bind for every layer before "
                    "MPIX_Tide_pipeline_begin",
                    l);
  });
  AgreedWords flags;
  flags.add("flags (MPIX_TIDE_NO_SYNC is 1)", no_sync ? MPIX_TIDE_NO_SYNC : 0);
  compare(context(), flags, "pass the same flags to MPIX_Tide_pipeline_begin on all ranks");
  has_memory_ = false;
  for (Layer& l : layers_) {
    l.gathers.clear();
    l.gather = nullptr;
    l.reduce.reset();
  }
  context().together([&] { plan(no_sync || shape_.accumulate); });
  storage_.allocate(context(), schedule_.slots, info_);
  has_memory_ = true;
}

void Pipeline::gather(int which, void* params[]) {
  check_layer(which);
  if (failed_) throw *failed_;
  if (!params && !groups_[static_cast<size_t>(which)]->params().empty())
    throw Error(Kind::arg, "params is NULL; pass an array of {} pointers",
                groups_[static_cast<size_t>(which)]->params().size());
  const bool again = running_ && visit_ >= 0 && !released_ && visit().layer == which;
  if (!again) {
    const bool due = running_ && (visit_ < 0 || complete()) && visit_ + 1 < shape_.visits() &&
                     shape_.layer(visit_ + 1) == which;
    if (!due)
      throw Error(Kind::request, "gather of layer {} is not due; expected is {}", which,
                  expected());
    visit_++;
    released_ = opened_ = reduced_ = false;
    run(visit().gather);
  }
  storage_.pointers(param_pieces_[static_cast<size_t>(which)], visit().param_slot, params);
}

void Pipeline::release(int which) {
  check_open(which, "release");
  if (released_)
    throw Error(Kind::request, "layer {} is released already; expected is {}", which, expected());
  released_ = true;
}

void Pipeline::grads(int which, void* list[]) {
  check_open(which, "grads");
  if (!trains() || reduced_)
    throw Error(Kind::request, "grads of layer {}: {}; expected is {}", which,
                trains() ? "its gradients are being reduced already" : why_untrained(), expected());
  if (!list && !groups_[static_cast<size_t>(which)]->params().empty())
    throw Error(Kind::arg, "grads is NULL; pass an array of {} pointers",
                groups_[static_cast<size_t>(which)]->params().size());
  if (!opened_) run(visit().grads);
  opened_ = true;
  storage_.pointers(grad_pieces_[static_cast<size_t>(which)], visit().grad_slot, list);
}

void Pipeline::reduce(int which, int out_dtype, int op, double scale) {
  check_open(which, "reduce");
  if (!opened_ || reduced_)
    throw Error(Kind::request, "reduce of layer {}: {}; expected is {}", which,
                !trains()  ? why_untrained()
                : reduced_ ? "this visit's was called already"
                           : "its gradients were not asked for",
                expected());
  reduced_ = true;
  run(visit().reduce, {out_dtype, op, scale});
}

}  // namespace tide
