// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <functional>

#include "core/gate.hpp"
#include "pipeline/pipeline.hpp"

namespace tide {

void complete_request(Request& request) {
  request.wait();
  if (request.end()) request.complete();
}

void Pipeline::start(Request& request, const Request* after) {
  if (stream_)
    request.start_on(stream_, after);
  else
    request.start(after);
}

void Pipeline::end(Request& request) {
  if (stream_)
    request.wait_on(stream_);
  else
    complete_request(request);
}

// What goes wrong ends the micro-batch: further calls say the same until finish.
void Pipeline::run(const std::vector<Step>& steps, const Reduction& reduction) {
  try {
    for (const Step& step : steps) run_step(step, reduction);
  } catch (const Error& e) {
    failed_ = e;
    throw;
  }
}

void Pipeline::run_step(const Step& step, const Reduction& reduction) {
  Layer& l = layer(step.layer);
  switch (step.what) {
    case Step::What::gather:
      return start_gather(step);
    case Step::What::wait_gather:
      return end(*l.gather);
    case Step::What::wait_read:
      return stream_ ? l.reduce->wait_inputs_on(stream_) : l.reduce->wait_inputs();
    case Step::What::clear:
      return clear(step);
    case Step::What::reduce:
      if (no_sync_)
        l.accumulated = true;
      else
        start_reduce(step, reduction);
      return;
    case Step::What::wait_reduce:
      return end(*l.reduce);
  }
}

void Pipeline::start_gather(const Step& step) {
  Layer& l = layer(step.layer);
  auto& request = l.gathers[step.slot];
  if (!request) {
    std::vector<void*> params(l.shards.size());
    storage_.pointers(param_pieces_[static_cast<size_t>(step.layer)], step.slot, params.data());
    Arguments a;
    a.inputs = l.shards.data();
    a.outputs = params.data();
    a.wrong = l.wrong;
    request = std::make_unique<Request>(groups_[static_cast<size_t>(step.layer)], a, true);
  }
  request->mark(no_sync_ ? MPIX_TIDE_NO_SYNC : 0);
  l.gather = request.get();
  start(*request, step.after < 0 ? nullptr : layer(step.after).reduce.get());
}

// Where a binding has told of the results' types.
Status Pipeline::wrong_results(int which, const Arguments& a) {
  const Layer& l = layer(which);
  if (!l.wrong_results.good()) return l.wrong_results;
  const Group& group = *groups_[static_cast<size_t>(which)];
  for (size_t p = 0; p < l.result_types.size(); p++) {
    const Param& param = group.params()[p];
    if (!param.frozen && !may_hold(l.result_types[p], type_of(a, param, false)))
      return {group.context().comm_rank(), static_cast<int16_t>(Kind::buffer), Fault::output_dtype,
              static_cast<int32_t>(p), l.result_types[p]};
  }
  return {};
}

void Pipeline::start_reduce(const Step& step, const Reduction& reduction) {
  Layer& l = layer(step.layer);
  if (!l.reduce || l.reduce_slot != step.slot || l.out_dtype != reduction.out_dtype) {
    std::vector<void*> grads(l.shards.size());
    storage_.pointers(grad_pieces_[static_cast<size_t>(step.layer)], step.slot, grads.data());
    Arguments a;
    a.reduce = true;
    a.inputs = grads.data();
    a.outputs = l.grad_shards.data();
    a.out_dtype = reduction.out_dtype;
    a.wrong = wrong_results(step.layer, a);
    l.reduce = std::make_unique<Request>(groups_[static_cast<size_t>(step.layer)], a, true);
    l.reduce_slot = step.slot;
    l.out_dtype = reduction.out_dtype;
  }
  l.accumulated = false;
  l.reduce->set(reduction.op, reduction.scale);
  start(*l.reduce, nullptr);
}

void Pipeline::clear(const Step& step) {
  const Layer& l = layer(step.layer);
  const int64_t bytes = grad_pieces_[static_cast<size_t>(step.layer)].bytes;
  if (!bytes || l.accumulated) return;
  if (storage_.on_device())
    gpu::zero(stream_, storage_.slot(step.slot), static_cast<size_t>(bytes));
  else
    std::memset(storage_.slot(step.slot), 0, static_cast<size_t>(bytes));
}

// Completes all that is active, whatever goes wrong with one of them.
void Pipeline::finish() {
  const bool forward_only = visit_ + 1 == static_cast<int>(shape_.forward.size());
  const bool due =
      running_ &&
      (failed_ || ((visit_ < 0 || complete()) && (forward_only || visit_ + 1 == shape_.visits())));
  if (!due) throw Error(Kind::request, "finish is not due; expected is {}", expected());
  for (Layer& l : layers_) {
    const auto end = [&](Request* request) {
      if (!request || !request->active()) return;
      try {
        this->end(*request);
      } catch (const Error& e) {
        if (!failed_) failed_ = e;
      }
    };
    for (auto& [slot, request] : l.gathers) end(request.get());
    end(l.reduce.get());
  }
  running_ = false;
  if (stream_) {
    finished_ = std::make_unique<Gate>();
    finished_->open_after(stream_);
  }
  if (!failed_) return;
  for (Layer& l : layers_) l.accumulated = false;
  throw *failed_;
}

}  // namespace tide
