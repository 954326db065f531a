// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Calls that stand in the header and are not built yet: UNSUPPORTED with a message, nothing is
// touched, nothing hangs. A form that gets built leaves this file: take its line out and test it
// where it belongs.
#include "list.hpp"

namespace tide_test {
namespace {

class NotYet : public testing::Test {
 protected:
  List list_{world(), {param(9, 5)}};
  Pieces shards_{world(), Memory::tide, list_.shard_bytes()},
      full_{world(), Memory::tide, list_.full_bytes()};
  Pieces grads_{world(), Memory::tide, list_.grad_bytes()},
      sums_{world(), Memory::tide, list_.out_bytes(MPIX_TIDE_FP32)};
  MPIX_Tide_request request_ = MPIX_TIDE_REQUEST_NULL;
  const void* const* in_ = MPIX_TIDE_INPUTS(shards_.list());
  const void* const* grad_ = MPIX_TIDE_INPUTS(grads_.list());
  int stream_ = 0;  // stands for a stream

  void SetUp() override {
    full_.fill(0x11);
    sums_.fill(0x11);
  }
  void TearDown() override {
    full_.expect_filled(0x11, "a call that is not supported");
    sums_.expect_filled(0x11, "a call that is not supported");
    EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, request_);
    check_allgather(list_);
  }
};

TEST_F(NotYet, EnqueuedAllgather) {
  expect_failure(MPIX_Tide_allgather_enqueue(in_, full_.list(), list_.group(), &stream_),
                 {unsupported});
}

TEST_F(NotYet, EnqueuedReduceScatter) {
  expect_failure(MPIX_Tide_reduce_scatter_enqueue(grad_, sums_.list(), MPIX_TIDE_FP32,
                                                  MPIX_TIDE_SUM, 1.0, list_.group(), &stream_),
                 {unsupported});
}

}  // namespace
}  // namespace tide_test
