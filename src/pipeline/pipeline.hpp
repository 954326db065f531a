// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Carries a schedule out: the calls of a micro-batch in their order, each with the steps that the
// schedule has for it, by requests on pooled memory.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/request.hpp"
#include "core/told_lists.hpp"
#include "pipeline/description.hpp"

namespace tide {

class Pipeline {
 public:
  // Collective over the communicator of `first`.  `describe` reads the user's structure: what it
  // throws is told to all ranks.
  static std::shared_ptr<Pipeline> create(Group& first,
                                          const std::function<PipelineDescription()>& describe);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  Context& context() const { return groups_[0]->context(); }
  Group& group() const { return *groups_[0]; }  // its errors are raised as this one's
  const Schedule& schedule() const { return schedule_; }
  size_t workspace_bytes() const;

  void bind(int layer, const void* const* shards, void* const* grad_shards, const ToldLists& told);
  void begin(bool no_sync);
  void gather(int layer, void* params[]);
  void release(int layer);
  void grads(int layer, void* grads[]);
  void reduce(int layer, int out_dtype, int op, double scale);
  void finish();

  // Throws, before anything has happened, where the call's stream does not go with the slots.
  void check_stream() const;

  // For the time of a call: one thread at a time.
  class Busy {
   public:
    // stream: null, or where the call belongs.
    Busy(Pipeline& pipeline, gpu::UserStream stream);
    ~Busy() { pipeline_.busy_ = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Pipeline& pipeline_;
  };

 private:
  struct Layer {
    std::vector<const void*> shards;
    std::vector<void*> grad_shards;
    bool bound = false;
    Status wrong, wrong_results;    // what a binding found: the operations say it, on all ranks
    std::vector<int> result_types;  // of grad_shards; 0, or empty: not known
    std::map<int, std::unique_ptr<Request>> gathers;  // by slot
    Request* gather = nullptr;                        // the last that was started
    std::unique_ptr<Request> reduce;
    int reduce_slot = -1, out_dtype = 0;
    bool accumulated = false;  // holds gradients of earlier micro-batches
  };
  struct Reduction {
    int out_dtype = 0, op = 0;
    double scale = 1;
  };
  Pipeline() = default;
  void plan(bool accumulate);
  void take_memory(bool no_sync);
  void run(const std::vector<Step>& steps, const Reduction& reduction);
  void run(const std::vector<Step>& steps) { run(steps, Reduction()); }
  // On the call's stream, or on the host.
  void start(Request& request, const Request* after);
  void end(Request& request);
  void wait_for_stream();  // that has passed the last finish
  void run_step(const Step& step, const Reduction& reduction);
  void start_gather(const Step& step);
  void start_reduce(const Step& step, const Reduction& reduction);
  Status wrong_results(int layer, const Arguments& arguments);
  void clear(const Step& step);
  void check_layer(int layer) const;
  void check_open(int layer, const char* call) const;
  const Visit& visit() const { return schedule_.visits[static_cast<size_t>(visit_)]; }
  bool trains() const { return visit().grad_slot >= 0; }  // the visit has gradients
  bool complete() const { return released_ && (!trains() || reduced_); }
  const char* why_untrained() const;  // the visit has no gradients
  std::string expected() const;
  std::string place(int visit) const;
  Layer& layer(int which) { return layers_[static_cast<size_t>(which)]; }

  std::vector<std::shared_ptr<Group>> groups_;
  std::vector<Pieces> param_pieces_, grad_pieces_;
  PipelineShape shape_;
  InfoValues info_;
  Schedule schedule_;
  PipelineStorage storage_;
  std::vector<Layer> layers_;
  bool has_memory_ = false, running_ = false, no_sync_ = false;
  int visit_ = -1;                                           // of the last gather
  bool released_ = true, opened_ = false, reduced_ = false;  // of that visit; opened: its gradients
  std::optional<Error> failed_;                              // what ended the micro-batch early
  std::atomic<bool> busy_ = false;
  gpu::UserStream stream_ = nullptr;  // of the call that is made
  std::unique_ptr<Gate> finished_;    // by a stream
};

// Ends the active time of a request and throws what went wrong.
void complete_request(Request& request);

}  // namespace tide
