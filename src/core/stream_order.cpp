// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream_order.hpp"

#include "core/error.hpp"
#include "core/gate.hpp"
#include "core/log.hpp"

namespace tide {

Enqueued::Enqueued(const Arguments& a, size_t count) : arguments(a) {
  if (a.inputs) inputs.assign(a.inputs, a.inputs + count), arguments.inputs = inputs.data();
  if (a.outputs) outputs.assign(a.outputs, a.outputs + count), arguments.outputs = outputs.data();
}

void check_stream(Group& group) {
  std::string why;
  if (gpu::devices(&why) == 0)
    throw Error(
        Kind::unsupported,
        "no device, and so no stream: {}; use the blocking, nonblocking or persistent forms", why);
  static const bool loads_lazily = gpu::loads_lazily();
  if (loads_lazily)
    warn_once(
        "CUDA loads kernels at their first launch (CUDA_MODULE_LOADING), which waits for streams "
        "that wait for Tide: set it to EAGER for the job, or launch each kernel once before");
  group.need_thread();
}

// Here, as the thread that drives the call may not wait for the driver.
static void prepare_device(Context& context, const Enqueued& call) {
  const auto adopt = [&](const auto& list) {
    for (const void* at : list)
      if (const int device = at ? gpu::device_of(at) : -1; device >= 0)
        return context.adopt_device(device), true;
    return false;
  };
  if (!context.knows_device() && !adopt(call.outputs)) adopt(call.inputs);
  context.device_backend(*call.workspaces.host);
  gpu::make_up();
}

std::shared_ptr<Outcome> enqueue(const std::shared_ptr<Group>& group, const Arguments& arguments,
                                 gpu::UserStream stream, std::shared_ptr<const Outcome> after) {
  check_stream(*group);
  Context& context = group->context();
  auto enqueued = std::make_shared<Enqueued>(arguments, group->params().size());
  const std::shared_ptr<Outcome> outcome = enqueued->outcome;
  enqueued->after = std::move(after);
  outcome->gate = std::make_shared<Gate>();
  outcome->enqueued = true;
  outcome->begin();
  const std::lock_guard lock(context.mutex);
  context.check_whole();
  context.default_device(gpu::current());
  enqueued->workspaces = group->workspaces();
  prepare_device(context, *enqueued);
  group->call().take_for_stream();
  try {
    outcome->gate->open_after(stream);
  } catch (...) {
    group->call().release_by_stream();
    throw;
  }
  context.set_active();
  context.enqueue(group, std::move(enqueued));
  return outcome;
}

std::shared_ptr<Enqueued> GraphCall::next_run() {
  auto run = std::make_shared<Enqueued>(call->arguments, group->params().size());
  run->workspaces = call->workspaces;
  if (after) run->after = after->outcome;
  outcome = run->outcome;
  outcome->gate = gate;
  outcome->enqueued = true;
  outcome->begin();
  return run;
}

std::shared_ptr<GraphCall> capture(const std::shared_ptr<Group>& group, const Arguments& arguments,
                                   gpu::UserStream stream, std::shared_ptr<GraphCall> after) {
  const gpu::DuringCapture during;
  check_stream(*group);
  Context& context = group->context();
  auto made = std::make_shared<GraphCall>();
  made->group = group;
  made->graph = gpu::capturing(stream);
  const auto call = std::make_shared<Enqueued>(arguments, group->params().size());
  made->after = std::move(after);
  const std::lock_guard lock(context.mutex);
  context.check_whole();
  context.default_device(gpu::current());
  call->workspaces = group->workspaces();
  made->call = call;
  prepare_device(context, *call);
  gpu::keep_with_graph(stream, {nullptr, [gone = made->graph_gone](void*) { *gone = true; }});
  made->gate->open_after(stream);
  context.set_active();
  context.keep(made);
  return made;
}

}  // namespace tide
