// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/request.hpp"

#include "core/error.hpp"
#include "core/progress.hpp"
#include "core/stream_order.hpp"

namespace tide {

// Takes the group and puts its call into the communicator's order.
static void begin(const std::shared_ptr<Group>& group, const Arguments& arguments,
                  const std::shared_ptr<Outcome>& outcome, bool as_request,
                  const std::shared_ptr<const Outcome>& after = {}) {
  Context& context = group->context();
  Call& call = group->call();
  gpu::make_up();
  call.take();
  const std::lock_guard lock(context.mutex);
  try {
    context.check_whole();
    if (as_request) context.set_active();
    call.start(arguments, outcome, as_request, after, group->workspaces());
    context.enqueue(group);
  } catch (...) {
    call.release();
    throw;
  }
}

void run(const std::shared_ptr<Group>& group, const Arguments& arguments) {
  Context& context = group->context();
  const std::shared_ptr<Outcome>& outcome = group->blocking_outcome();
  begin(group, arguments, outcome, false);
  context.process().progress().wait(context,
                                    [&] { return outcome->over.load(std::memory_order_acquire); });
  const Kind kind = outcome->kind;
  if (kind == Kind::none) return group->call().release();
  const std::string message = outcome->message;
  group->call().release();
  throw Error(kind, message);
}

Request::Request(std::shared_ptr<Group> group, const Arguments& a, bool persistent)
    : group_(std::move(group)), arguments_(a), persistent_(persistent) {
  const size_t count = group_->params().size();
  if (a.inputs) inputs_.assign(a.inputs, a.inputs + count), arguments_.inputs = inputs_.data();
  if (a.outputs)
    outputs_.assign(a.outputs, a.outputs + count), arguments_.outputs = outputs_.data();
}

Request::Request(std::unique_ptr<Request> first, std::shared_ptr<Group> group,
                 const Arguments& second)
    : Request(std::move(group), second, false) {
  first_ = std::move(first);
  arguments_.needs_success = true;
}

// An active one goes on without its handle.
Request::~Request() {
  if (active_) let_go();
}

void Request::let_go() {
  if (outcome_->enqueued) return;
  const std::lock_guard lock(group_->context().mutex);
  if (over())
    group_->call().release();
  else
    outcome_->release_call = true;
}

void Request::start(const Request* after) {
  if (active_)
    throw Error(Kind::request, "the request is active already; complete it by wait or test first");
  if (outcome_->enqueued) outcome_ = std::make_shared<Outcome>();
  if (first_) first_->start(after);
  const Request* before = first_ ? first_.get() : after;
  begin(group_, arguments_, outcome_, true, before ? before->outcome_ : nullptr);
  active_ = true;
}

bool Request::end() {
  const bool ended = active_.exchange(false);
  if (ended && first_ && first_->end()) first_->group_->call().release();
  return ended;
}

void Request::wait() {
  Context& context = group_->context();
  context.process().progress().wait(context, [this] { return over(); });
}

bool Request::test() {
  if (over()) return true;
  Context& context = group_->context();
  Progress& progress = context.process().progress();
  const bool moved = context.progress();
  if (!progress.drive(&context) && !moved) {
    context.enter_mpi();
    progress.tick(context, true);
  }
  return over();
}

void Request::complete() {
  if (!outcome_->enqueued) group_->call().release();
  outcome_->check();
}

void Request::wait_inputs() {
  Context& context = group_->context();
  if (first_) wait();
  context.process().progress().wait(
      context, [this] { return outcome_->inputs_over.load(std::memory_order_acquire); });
  if (context.broken() && over()) outcome_->check();
}

bool Request::test_inputs() {
  const auto free = [this] { return first_ ? over() : outcome_->inputs_over.load(); };
  if (!free()) test();
  if (over() && group_->context().broken()) outcome_->check();
  return free();
}

void Request::start_on(gpu::UserStream stream, const Request* after) {
  if (active_)
    throw Error(Kind::request,
                "the request is active already; complete it by wait or test, or by wait_enqueue, "
                "first");
  if (first_) first_->start_on(stream, after);
  const Request* before = first_ ? first_.get() : after;
  check_stream(*group_);
  if (gpu::capturing(stream)) {
    captured_ = capture(group_, arguments_, stream, before ? before->captured_ : nullptr);
    return;
  }
  outcome_ = enqueue(group_, arguments_, stream, before ? before->outcome_ : nullptr);
  active_ = true;
}

std::shared_ptr<Gate> Request::gate() {
  const std::lock_guard lock(group_->context().mutex);
  if (!outcome_->gate) {
    outcome_->gate = std::make_shared<Gate>();
    if (outcome_->inputs_over) outcome_->gate->tell_inputs_over();
    if (outcome_->over) outcome_->gate->tell_over();
    if (outcome_->over && outcome_->kind != Kind::none)
      group_->set_async_error({outcome_->kind, "{}", outcome_->message});
  }
  return outcome_->gate;
}

std::shared_ptr<Gate> Request::gate_for(gpu::UserStream stream) {
  check_stream(*group_);
  if (!gpu::capturing(stream)) return active_ ? gate() : nullptr;
  if (active_)
    throw Error(Kind::request,
                "the request was started outside of the graph that the stream is being captured "
                "into; wait for it before the capture begins");
  if (captured_ && captured_->graph != gpu::capturing(stream))
    throw Error(Kind::request,
                "the request was started in another capture; wait for it in the one that started "
                "it, or start it in this one");
  return captured_ ? captured_->gate : nullptr;
}

void Request::wait_inputs_on(gpu::UserStream stream) {
  if (const auto gate = gate_for(stream)) gate->hold_for_inputs(stream);
}

void Request::wait_on(gpu::UserStream stream) {
  const auto gate = gate_for(stream);
  if (!gate) return;
  gate->hold(stream);
  captured_.reset();
  if (first_) first_->captured_.reset();
  if (!active_.exchange(false)) return;
  if (first_ && first_->active_.exchange(false)) first_->let_go();
  let_go();
}

void Request::set(int op, double scale) {
  if (!persistent_ || !arguments_.reduce)
    throw Error(Kind::request,
                "op and scale belong to a persistent reduce-scatter; this is not one");
  if (active_)
    throw Error(Kind::request, "the request is active; change op and scale after wait or test");
  arguments_.op = op;
  arguments_.scale = scale;
}

extern "C" {
static int query_outcome(void* state, MPI_Status* status) {
  const auto& outcome = *static_cast<std::shared_ptr<Outcome>*>(state);
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return outcome->kind == Kind::none ? MPI_SUCCESS : MPI_ERR_OTHER;
}
static int free_outcome(void* state) {
  delete static_cast<std::shared_ptr<Outcome>*>(state);
  return MPI_SUCCESS;
}
static int cancel_outcome(void*, int) { return MPI_SUCCESS; }  // cannot be cancelled
}

void Request::mpi(MPI_Request* request) {
  Context& context = group_->context();
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (group_->settings().text("tide_progress") != "thread")
    throw Error(Kind::unsupported,
                "an MPI request needs a thread that completes it while MPI waits; create the group "
                "with info tide_progress = thread");
  if (level < MPI_THREAD_MULTIPLE)
    throw Error(Kind::unsupported,
                "an MPI request is completed by the progress thread, which needs an MPI that was "
                "initialised with MPI_THREAD_MULTIPLE");
  const std::lock_guard lock(context.mutex);
  MPI_Request made = MPI_REQUEST_NULL;
  check_mpi(MPI_Grequest_start(query_outcome, free_outcome, cancel_outcome,
                               new std::shared_ptr<Outcome>(outcome_), &made),
            "MPI_Grequest_start");
  if (active_ && !over())
    outcome_->completes.push_back(made);
  else
    check_mpi(MPI_Grequest_complete(made), "MPI_Grequest_complete");
  *request = made;
}

}  // namespace tide
