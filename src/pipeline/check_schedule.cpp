// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline/check_schedule.hpp"

#include <stdexcept>
#include <string>

namespace tide {
namespace {

constexpr int none = -1;

struct SlotState {  // layers; several may be set at once only for a gather that waits for reads
  int gathering = none, params = none, grads = none, read = none;
};

struct LayerState {
  int params_in = none, grads_in = none;
  bool gathering = false, reducing = false, reads = false, reduced = false;
  int waits_for = none;        // of its gather
  int visits = 0, wanted = 0;  // contributions to its gradients, since they were cleared
};

class Rehearsal {
 public:
  Rehearsal(const PipelineShape& shape, const Schedule& schedule)
      : shape_(shape),
        schedule_(schedule),
        slots_(schedule.slots.size()),
        layers_(shape.layers.size()) {}

  void micro_batch(bool no_sync) {
    for (LayerState& l : layers_) l.reduced = false;
    call("begin", schedule_.begin, no_sync);
    for (int v = 0; v < shape_.visits(); v++) visit(v, no_sync);
    call("finish", no_sync ? std::vector<Step>() : schedule_.finish, no_sync);
    for (size_t i = 0; i < layers_.size(); i++) at_end(static_cast<int>(i), no_sync);
  }

 private:
  void visit(int v, bool no_sync) {
    const Visit& at = schedule_.visits[static_cast<size_t>(v)];
    const std::string name = "visit " + std::to_string(v) + ": ";
    if (at.layer != shape_.layer(v) || at.backward != shape_.is_backward(v))
      fail(name + "another layer");
    call(name + "gather", at.gather, no_sync);
    use_params(name, at);
    const bool trains = at.backward && !shape_.layers[static_cast<size_t>(at.layer)].frozen;
    call(name + "grads", at.grads, no_sync);
    use_params(name, at);
    if (trains) use_grads(name, at);
    if (!trains && (at.grad_slot != none || !at.grads.empty() || !at.reduce.empty()))
      fail(name + "gradients that nobody has");
    if (at.vacates) {
      slot(at.param_slot).params = none;
      layer(at.layer).params_in = none;
    }
    call(name + "reduce", at.reduce, no_sync);
  }

  void use_params(const std::string& name, const Visit& at) {
    const LayerState& l = layer(at.layer);
    if (l.params_in != at.param_slot || l.gathering || at.param_slot == none)
      fail(name + "parameters are not there");
    const SlotState& s = slot(at.param_slot);
    if (s.params != at.layer || s.gathering != none || s.grads != none || s.read != none)
      fail(name + "parameters were overwritten");
  }

  void use_grads(const std::string& name, const Visit& at) {
    LayerState& l = layer(at.layer);
    if (l.grads_in == none || l.grads_in != at.grad_slot) fail(name + "gradients are not there");
    const SlotState& s = slot(at.grad_slot);
    if (s.grads != at.layer || s.gathering != none || s.params != none || s.read != none)
      fail(name + "gradients were overwritten, or are being read");
    l.visits++;
  }

  void call(const std::string& name, const std::vector<Step>& steps, bool no_sync) {
    for (const Step& step : steps) {
      where_ = name + ", layer " + std::to_string(step.layer) + ": ";
      if (step.layer < 0 || step.layer >= static_cast<int>(layers_.size())) fail("no such layer");
      switch (step.what) {
        case Step::What::gather:
          gather(step);
          break;
        case Step::What::wait_gather:
          wait_gather(step.layer);
          break;
        case Step::What::wait_read:
          if (!layer(step.layer).reducing) fail("waits for reads that did not begin");
          reads_over(step.layer);
          break;
        case Step::What::clear:
          clear(step);
          break;
        case Step::What::reduce:
          if (!no_sync) reduce(step);
          break;
        case Step::What::wait_reduce:
          if (!layer(step.layer).reducing) fail("waits for a reduction that did not begin");
          reads_over(step.layer);
          layer(step.layer).reducing = false;
          layer(step.layer).reduced = true;
          break;
      }
    }
    where_ = name + ": ";
  }

  void gather(const Step& step) {
    LayerState& l = layer(step.layer);
    SlotState& s = slot(step.slot);
    if (l.gathering || l.reducing) fail("its group has an active operation");
    if (l.params_in != none) fail("gathered although it is live");
    if (schedule_.slots[static_cast<size_t>(step.slot)].bytes <
        shape_.layers[static_cast<size_t>(step.layer)].param_bytes)
      fail("the slot is too small for the parameters");
    if (s.gathering != none || s.params != none) fail("a gather into live parameters");
    if (s.grads != none) fail("a gather into live gradients");
    if (s.read != step.after) fail("a gather where gradients may still be read");
    s.gathering = step.layer;
    l.gathering = true;
    l.params_in = step.slot;
    l.waits_for = step.after;
  }

  void wait_gather(int which) {
    LayerState& l = layer(which);
    if (!l.gathering) fail("waits for a gather that did not begin");
    if (l.waits_for != none) reads_over(l.waits_for);
    l.gathering = false;
    SlotState& s = slot(l.params_in);
    s.gathering = none;
    s.params = which;
  }

  void clear(const Step& step) {
    LayerState& l = layer(step.layer);
    SlotState& s = slot(step.slot);
    if (l.grads_in == step.slot && shape_.accumulate) return;  // goes on
    if (l.grads_in != none) fail("cleared although it has gradients");
    if (schedule_.slots[static_cast<size_t>(step.slot)].bytes <
        shape_.layers[static_cast<size_t>(step.layer)].grad_bytes)
      fail("the slot is too small for the gradients");
    if (s.read != none) fail("gradients where others may still be read");
    if (s.gathering != none || s.params != none || s.grads != none)
      fail("gradients into live storage");
    s.grads = step.layer;
    l.grads_in = step.slot;
    l.visits = l.wanted = 0;
  }

  void reduce(const Step& step) {
    LayerState& l = layer(step.layer);
    SlotState& s = slot(step.slot);
    if (l.gathering || l.reducing) fail("its group has an active operation");
    if (l.grads_in != step.slot || s.grads != step.layer) fail("reduces what is not its gradients");
    if (l.visits != l.wanted + backward_visits(step.layer)) fail("reduced before its last visit");
    l.reducing = l.reads = true;
    s.read = step.layer;
    s.grads = none;
    l.grads_in = none;
  }

  void reads_over(int which) {
    layer(which).reads = false;
    for (SlotState& s : slots_)
      if (s.read == which) s.read = none;
  }

  void at_end(int which, bool no_sync) {
    LayerState& l = layer(which);
    where_ = "after finish, layer " + std::to_string(which) + ": ";
    if (l.gathering || l.reducing || l.reads) fail("an operation is active");
    if (l.params_in != none) fail("parameters are still live");
    const int visits =
        shape_.layers[static_cast<size_t>(which)].frozen ? 0 : backward_visits(which);
    l.wanted += visits;
    if (no_sync && l.visits != l.wanted) fail("a contribution is missing");
    if (!no_sync && visits && (!l.reduced || l.grads_in != none)) fail("was not reduced");
    if (!no_sync) l.wanted = 0;
  }

  int backward_visits(int which) const {
    int count = 0;
    for (const int l : shape_.backward) count += l == which;
    return count;
  }
  SlotState& slot(int which) {
    if (which < 0 || which >= static_cast<int>(slots_.size())) fail("no such slot");
    return slots_[static_cast<size_t>(which)];
  }
  LayerState& layer(int which) { return layers_[static_cast<size_t>(which)]; }
  [[noreturn]] void fail(const std::string& what) const { throw std::runtime_error(where_ + what); }

  const PipelineShape& shape_;
  const Schedule& schedule_;
  std::vector<SlotState> slots_;
  std::vector<LayerState> layers_;
  std::string where_;
};

}  // namespace

void check_schedule(const PipelineShape& shape, const Schedule& schedule,
                    const std::vector<bool>& no_sync) {
  if (static_cast<int>(schedule.visits.size()) != shape.visits())
    throw std::runtime_error("another number of visits");
  int64_t bytes = 0;
  for (const Slot& slot : schedule.slots) bytes += slot.bytes;
  if (bytes != schedule.total_bytes() || schedule.param_bytes < 0 || schedule.grad_bytes < 0)
    throw std::runtime_error("the bytes do not add up");
  Rehearsal run(shape, schedule);
  for (const bool accumulates : no_sync) run.micro_batch(accumulates);
}

}  // namespace tide
