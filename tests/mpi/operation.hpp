// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// One collective with a group and buffers of its own, for the tests of requests: whatever way it
// was started, its outputs are compared with the definition.
#pragma once
#include <memory>
#include <vector>

#include "list.hpp"

namespace tide_test {

enum class Collective { gather, reduce };

struct OperationOptions {
  Memory inputs = Memory::tide, outputs = Memory::tide;
  bool in_place = false;  // all-gather
  int op = MPIX_TIDE_SUM;
  double scale = 1.0;
  int out_dtype = MPIX_TIDE_FP32;
};

class Operation {
 public:
  // Collective.
  Operation(const Team& team, Collective collective, std::vector<MPIX_Tide_param> params,
            const OperationOptions& options = {}, MPI_Info info = MPI_INFO_NULL);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  void write(uint64_t salt);  // new inputs; outputs hold 0xFF
  void spoil_inputs();
  void drop_inputs();  // frees them
  int call();          // the blocking form
  int begin();         // the nonblocking form
  int init(MPI_Info info = MPI_INFO_NULL);
  int start() { return MPIX_Tide_start(&request); }
  int wait() { return MPIX_Tide_wait(&request); }
  // Polls with test until it completes; what test returned.
  int test_until_over();
  void set(int op, double scale);  // request_set, and what is expected from now on
  void expect_result(const char* what) const;
  void expect_outputs_untouched(const char* what) const;

  List list;
  MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
  const void* const* in() const;
  void* const* out() const { return outputs_->list(); }
  int op() const { return options_.op; }
  double scale() const { return options_.scale; }
  int out_dtype() const { return options_.out_dtype; }
  Collective collective() const { return collective_; }

 private:
  ReduceOptions expected() const;
  Collective collective_;
  OperationOptions options_;
  std::unique_ptr<Pieces> inputs_, outputs_;
  uint64_t salt_ = 0;
};

double now_s();
// begin() and wait() of a correct operation.
void check_nonblocking(Operation& operation, uint64_t salt, const char* what);
// `count` operations of alternating kind and different sizes over one communicator.
std::vector<std::unique_ptr<Operation>> several(const Team& team, int count,
                                                const OperationOptions& options = {},
                                                MPI_Info info = MPI_INFO_NULL);
// A failed operation leaves null behind, whether the call or the wait told the error.
int begin_and_wait(Operation& operation);

}  // namespace tide_test
