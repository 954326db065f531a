// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A parameter list sharded over a communicator: what every rank agreed on at creation, the plans,
// the tables through which the ranks of a node learn each other's addresses, and the one call that
// a group can have under way.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "core/collective.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/outcome.hpp"
#include "core/settings.hpp"
#include "plan/plan.hpp"

namespace tide {

class Call;
class Replicas;

class Group : public std::enable_shared_from_this<Group> {
 public:
  // Collective.  first_row null: the chunk layout.
  // Waits at most as long as info, or the environment, says.
  static std::shared_ptr<Group> create(MPI_Comm comm, std::vector<Param> params,
                                       const int64_t* first_row, MPI_Info info,
                                       const std::optional<Error>& fault,
                                       SetupCall call = SetupCall::group_create);
  ~Group();

  Context& context() const { return *context_; }
  const std::vector<Param>& params() const { return params_; }
  const Rows& rows() const { return *rows_; }
  const Settings& settings() const { return settings_; }
  uint64_t number() const { return number_; }
  double limit_s() const { return limit_s_; }  // tide_timeout; 0: none
  bool checks() const { return checks_; }      // TIDE_CHECK
  std::string param_name(int64_t p) const;
  void set_names(const std::string& prefix, const std::vector<std::string>& names);
  int64_t rows_of(int p, int comm_rank) const { return rows_->count(p, comm_rank); }

  const Collective& gather() const { return gather_; }
  // out_dtype: one that can_reduce; all are planned at creation, within the reserved workspace.
  const Collective& reduce(int out_dtype) const {
    return *reduces_.at(static_cast<size_t>(out_dtype));
  }
  bool can_reduce(
      int out_dtype) const;  // every gradient may be summed into that type (0: its shard type)
  size_t full_bytes() const, shard_bytes() const;
  size_t gather_workspace_bytes() const, reduce_workspace_bytes() const,
      reduce_workspace_min_bytes() const;
  Call& call() { return *call_; }
  Workspaces workspaces() const;  // for a call that is made now
  // Foreign host memory goes through the workspace, else it is reached from process to process.
  bool stages_host_memory() const { return stages_host_memory_; }
  // Memory of Tide's that its calls use; it lives as long as the group.
  void own(std::shared_ptr<void> memory) { owned_ = std::move(memory); }
  // For a group that its own communicator's context keeps: no circle of owners.
  void borrow_context() { context_ = {std::shared_ptr<void>(), context_.get()}; }
  Replicas& replicas() { return *replicas_; }
  // Of calls in the order of a stream, which no call tells: the first one stays.
  void set_async_error(const Error& error);
  void tell_async_errors_to(std::weak_ptr<Group> user) { errors_to_ = std::move(user); }
  std::optional<Error> async_error() const;
  // Starts the progress thread, where it is not at work yet.  Error{unsupported}.
  void need_thread();
  Rail* rail() const { return rail_; }                // null on one node
  Rail* device_rail() const { return device_rail_; }  // null: rail() carries device memory, too
  const std::string& why_no_device_rail() const { return why_no_device_rail_; }
  MulticastMode multicast() const { return multicast_; }
  // Sums may be a switch's, in an order of its own.
  bool switch_adds() const { return multicast_ != MulticastMode::off && !options_.rank_order; }
  const std::string& why_no_multicast() const { return why_no_multicast_; }
  const std::string& why_not_better_rail() const { return why_not_better_rail_; }
  const std::shared_ptr<Outcome>& blocking_outcome() const { return blocking_outcome_; }

 private:
  Group();
  void cut_rows(const int64_t* first_row);
  void plan_all();
  Limits limits() const;
  Collective plan_gather() const;
  void plan_reduces();

  std::shared_ptr<Context> context_;
  std::vector<Param> params_;
  std::shared_ptr<const Rows> rows_;
  Settings settings_;
  Rail *rail_ = nullptr, *device_rail_ = nullptr;
  std::string why_not_better_rail_, why_no_device_rail_, why_no_multicast_;
  MulticastMode multicast_ = MulticastMode::off;
  Options options_;
  uint64_t number_ = 0;
  bool checks_ = false;
  double limit_s_ = 0;
  std::string prefix_;
  std::vector<std::string> names_;
  bool stages_host_memory_ = false, staged_foreign_ = false;
  Collective gather_;
  std::array<std::optional<Collective>, 5> reduces_;  // by out_dtype; those that can_reduce
  size_t reduce_min_ = 0;
  std::unique_ptr<Call> call_;
  std::shared_ptr<void> owned_;
  std::unique_ptr<Replicas> replicas_;
  mutable std::mutex async_mutex_;
  std::optional<Error> async_error_;
  std::weak_ptr<Group> errors_to_;
  std::shared_ptr<Outcome> blocking_outcome_ =
      std::make_shared<Outcome>();  // of the blocking calls
};

// Output types that mpix_tide.h allows for a gradient of this type.
bool may_sum_into(Dtype grad, Dtype out);
bool may_gather_as(Dtype shard, Dtype full);

}  // namespace tide
