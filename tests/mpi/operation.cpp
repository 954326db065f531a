// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operation.hpp"

#include <sched.h>

#include <chrono>

namespace tide_test {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Operation::Operation(const Team& team, Collective collective, std::vector<MPIX_Tide_param> params,
                     const OperationOptions& options, MPI_Info info)
    : list(team, std::move(params), info), collective_(collective), options_(options) {
  const bool gather = collective == Collective::gather;
  inputs_ = std::make_unique<Pieces>(team, options.inputs,
                                     gather ? list.shard_bytes() : list.grad_bytes());
  outputs_ = std::make_unique<Pieces>(
      team, options.outputs, gather ? list.full_bytes() : list.out_bytes(options.out_dtype));
}

Operation::~Operation() {
  if (request == MPIX_TIDE_REQUEST_NULL) return;
  TIDE_OK(MPIX_Tide_wait(&request));
  if (request != MPIX_TIDE_REQUEST_NULL) TIDE_OK(MPIX_Tide_request_free(&request));
}

ReduceOptions Operation::expected() const {
  ReduceOptions o;
  o.out_dtype = options_.out_dtype;
  o.op = options_.op;
  o.scale = options_.scale;
  o.pattern = [salt = salt_](int r, int p, size_t i) { return rough(r, p, i + 7919 * salt); };
  return o;
}

void Operation::write(uint64_t salt) {
  salt_ = salt;
  outputs_->fill(0xFF);
  if (collective_ == Collective::reduce) return write_grads(list, inputs_->list(), expected());
  if (!options_.in_place) return write_shards(list, inputs_->list(), salt);
  std::vector<void*> rows(list.count(), nullptr);
  for (size_t p = 0; p < list.count(); ++p)
    if (list.shard_elems(p))
      rows[p] = static_cast<unsigned char*>((*outputs_)[p]) +
                list.first_elem(p, list.team().rank) * size_of(list.params()[p].dtype);
  write_shards(list, rows.data(), salt);
}

void Operation::spoil_inputs() { inputs_->fill(0xFF); }
void Operation::drop_inputs() { inputs_.reset(); }

const void* const* Operation::in() const {
  return options_.in_place ? MPIX_TIDE_IN_PLACE : MPIX_TIDE_INPUTS(inputs_->list());
}

int Operation::call() {
  if (collective_ == Collective::gather) return MPIX_Tide_allgather(in(), out(), list.group());
  return MPIX_Tide_reduce_scatter(in(), out(), options_.out_dtype, options_.op, options_.scale,
                                  list.group());
}

int Operation::begin() {
  if (collective_ == Collective::gather)
    return MPIX_Tide_iallgather(in(), out(), list.group(), &request);
  return MPIX_Tide_ireduce_scatter(in(), out(), options_.out_dtype, options_.op, options_.scale,
                                   list.group(), &request);
}

int Operation::init(MPI_Info info) {
  if (collective_ == Collective::gather)
    return MPIX_Tide_allgather_init(in(), out(), list.group(), info, &request);
  return MPIX_Tide_reduce_scatter_init(in(), out(), options_.out_dtype, options_.op, options_.scale,
                                       list.group(), info, &request);
}

int Operation::test_until_over() {
  for (;;) {
    int flag = 0;
    const int code = MPIX_Tide_test(&request, &flag);
    if (code != MPI_SUCCESS || flag) return code;
    sched_yield();
  }
}

void Operation::set(int op, double scale) {
  TIDE_OK(MPIX_Tide_request_set(request, op, scale));
  options_.op = op;
  options_.scale = scale;
}

void Operation::expect_result(const char* what) const {
  if (collective_ == Collective::gather)
    expect_gathered(list, out(), salt_, what);
  else
    expect_reduced(list, out(), expected(), what);
  outputs_->expect_margins(what);
  if (inputs_) inputs_->expect_margins(what);
}

void Operation::expect_outputs_untouched(const char* what) const {
  outputs_->expect_filled(0xFF, what);
}

void check_nonblocking(Operation& operation, uint64_t salt, const char* what) {
  operation.write(salt);
  TIDE_OK(operation.begin());
  TIDE_OK(operation.wait());
  EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, operation.request) << what;
  operation.expect_result(what);
}

std::vector<std::unique_ptr<Operation>> several(const Team& team, int count,
                                                const OperationOptions& options, MPI_Info info) {
  const std::vector<std::vector<MPIX_Tide_param>> lists = {
      {param(64, 33), param(5, 3)},
      {param(513, 65)},
      {param(1, 3)},
      {param(23, 5), param(0, 8), param(300, 40)},
      {param(7, 1), param(1024, 64)}};
  std::vector<std::unique_ptr<Operation>> all;
  for (int i = 0; i < count; ++i)
    all.push_back(std::make_unique<Operation>(team, i % 2 ? Collective::reduce : Collective::gather,
                                              lists[static_cast<size_t>(i) % lists.size()], options,
                                              info));
  return all;
}

int begin_and_wait(Operation& operation) {
  int code = operation.begin();
  if (code == MPI_SUCCESS) code = operation.wait();
  EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, operation.request) << "an operation that ended";
  return code;
}

}  // namespace tide_test
