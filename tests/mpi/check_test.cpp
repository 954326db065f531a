// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Calls that differ between ranks, as blocking, nonblocking and persistent ones.  With TIDE_CHECK=1
// the message names the first rank that differs, the field and both values.  Two or more ranks.
#include <sys/mman.h>

#include <cstdlib>

#include "operation.hpp"

namespace tide_test {
namespace {

enum class Form { blocking, nonblocking, persistent };

bool checked() {
  const char* text = std::getenv("TIDE_CHECK");
  return text && std::string(text) == "1";
}

class Differing : public testing::TestWithParam<std::tuple<Form, bool>> {
 protected:
  Form form() const { return std::get<0>(GetParam()); }
  int odd_one() const { return std::get<1>(GetParam()) ? world().size - 1 : 1; }
  bool differs() const { return world().rank == odd_one(); }

  int reduce(int op, double scale, int out_dtype) {
    Operation& a = reduce_;
    if (form() == Form::blocking)
      return MPIX_Tide_reduce_scatter(a.in(), a.out(), out_dtype, op, scale, a.list.group());
    if (form() == Form::nonblocking) {
      const int code = MPIX_Tide_ireduce_scatter(a.in(), a.out(), out_dtype, op, scale,
                                                 a.list.group(), &a.request);
      return code == MPI_SUCCESS ? a.wait() : code;
    }
    TIDE_OK(MPIX_Tide_reduce_scatter_init(a.in(), a.out(), out_dtype, op, scale, a.list.group(),
                                          MPI_INFO_NULL, &a.request));
    return run_and_free(a);
  }
  int gather() {
    Operation& a = gather_;
    if (form() == Form::blocking) return a.call();
    if (form() == Form::nonblocking) return begin_and_wait(a);
    TIDE_OK(a.init());
    return run_and_free(a);
  }
  int run_and_free(Operation& a) {
    int code = a.start();
    if (code == MPI_SUCCESS) code = a.wait();
    EXPECT_NE(MPIX_TIDE_REQUEST_NULL, a.request);
    const std::string message = MPIX_Tide_error_message();
    TIDE_OK(MPIX_Tide_request_free(&a.request));
    EXPECT_EQ(message, MPIX_Tide_error_message()) << "a success changed the last error";
    return code;
  }

  // All of `words` and, for each set of `either`, one of its words.
  void expect_mismatch(int code, std::initializer_list<std::string> words,
                       std::initializer_list<std::vector<std::string>> either = {}) {
    const std::string message = MPIX_Tide_error_message();
    expect_failure_on_all(world(), code, {mismatch});
    if (checked()) {
      EXPECT_NE(std::string::npos, message.find("rank " + std::to_string(odd_one()))) << message;
      for (const std::string& word : words) {
        EXPECT_NE(std::string::npos, message.find(word)) << "no \"" << word << "\" in: " << message;
      }
      for (const auto& set : either) {
        bool found = false;
        for (const std::string& word : set) found |= message.find(word) != std::string::npos;
        EXPECT_TRUE(found) << "no \"" << set[0] << "\" in: " << message;
      }
    }
    for (uint64_t salt = 1; salt < 4; ++salt) {
      check_nonblocking(gather_, salt, "after a mismatch");
      check_nonblocking(reduce_, salt, "after a mismatch");
    }
    expect_usable(world());
  }
  Operation gather_{world(), Collective::gather, {param(9, 2), param(6, 5)}};
  Operation reduce_{world(), Collective::reduce, {param(9, 2), param(6, 5)}};
};
std::string name_of_run(const testing::TestParamInfo<std::tuple<Form, bool>>& info) {
  static const char* const forms[] = {"Blocking", "Nonblocking", "Persistent"};
  const auto [form, last] = info.param;
  return std::string(forms[static_cast<int>(form)]) + (last ? "Last" : "Second");
}
INSTANTIATE_TEST_SUITE_P(All, Differing,
                         testing::Combine(testing::Values(Form::blocking, Form::nonblocking,
                                                          Form::persistent),
                                          testing::Bool()),
                         name_of_run);

TEST_P(Differing, Op) {
  expect_mismatch(reduce(differs() ? MPIX_TIDE_AVG : MPIX_TIDE_SUM, 1.0, MPIX_TIDE_FP32), {"op"},
                  {{"AVG", "avg", "2"}, {"SUM", "sum", "1"}});
}

TEST_P(Differing, Scale) {
  expect_mismatch(reduce(MPIX_TIDE_SUM, differs() ? 0.5 : 0.25, MPIX_TIDE_FP32),
                  {"scale", "0.5", "0.25"});
}

TEST_P(Differing, OutDtype) {
  expect_mismatch(reduce(MPIX_TIDE_SUM, 1.0, differs() ? MPIX_TIDE_BF16 : MPIX_TIDE_FP32),
                  {"out_dtype"}, {{"bf16", "BF16", "1"}, {"fp32", "FP32", "3"}});
}

TEST_P(Differing, Flags) {
  const int flag = differs() ? MPIX_TIDE_NULL_IS_ZERO : 0;
  reduce_.write(1);
  expect_mismatch(reduce(MPIX_TIDE_SUM | flag, 1.0, MPIX_TIDE_FP32), {"op"});
}

TEST_P(Differing, KindOfCollective) {
  expect_mismatch(differs() ? gather() : reduce(MPIX_TIDE_SUM, 1.0, MPIX_TIDE_FP32), {},
                  {{"all-gather", "allgather"}, {"reduce-scatter", "reduce_scatter"}});
}

TEST_P(Differing, OrderOfTwoGroups) {
  Operation other(world(), Collective::gather, {param(9, 2), param(6, 6)});
  Operation &first = differs() ? other : gather_, &second = differs() ? gather_ : other;
  if (form() == Form::blocking) {
    expect_failure_on_all(world(), first.call(), {mismatch});
    expect_failure_on_all(world(), second.call(), {mismatch});
  } else {
    const bool again = form() == Form::persistent;
    if (again) {
      TIDE_OK(gather_.init());
      TIDE_OK(other.init());
    }
    int code = again ? first.start() : first.begin(),
        next = again ? second.start() : second.begin();
    expect_failure_on_all(world(), code == MPI_SUCCESS ? first.wait() : code, {mismatch});
    expect_failure_on_all(world(), next == MPI_SUCCESS ? second.wait() : next, {mismatch});
    if (again) TIDE_OK(MPIX_Tide_request_free(&first.request));
    if (again) TIDE_OK(MPIX_Tide_request_free(&second.request));
    EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, first.request);
    EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, second.request);
  }
  check_nonblocking(other, 5, "after a mismatch of order");
  check_nonblocking(gather_, 6, "after a mismatch of order");
  expect_usable(world());
}

// request_set on one rank only is found at the start after it, and can be mended.
TEST(DifferingRequest, SetOnOneRankOnly) {
  Operation a(world(), Collective::reduce, {param(9, 2), param(6, 5)});
  TIDE_OK(a.init());
  for (int round = 0; round < 3; ++round) {
    a.write(1);
    if (world().rank == 1) TIDE_OK(MPIX_Tide_request_set(a.request, MPIX_TIDE_SUM, 8.0));
    int code = a.start();
    if (code == MPI_SUCCESS) code = a.wait();
    const std::string message = MPIX_Tide_error_message();
    expect_failure_on_all(world(), code, {mismatch});
    for (const char* word : {"rank 1", "scale", "8"})
      if (checked()) {
        EXPECT_NE(std::string::npos, message.find(word)) << message;
      }
    a.set(round % 2 ? MPIX_TIDE_AVG : MPIX_TIDE_SUM, 0.5);
    a.write(static_cast<uint64_t>(round));
    TIDE_OK(a.start());
    TIDE_OK(a.wait());
    a.expect_result("set alike again");
  }
}

// Right calls are not disturbed.
TEST(DifferingRequest, NoFalseAlarm) {
  const auto all = several(world(), 5);
  for (uint64_t round = 0; round < 20; ++round) {
    for (const auto& a : all) {
      a->write(round);
      TIDE_OK(a->begin());
    }
    for (const auto& a : all) {
      TIDE_OK(a->wait());
      a->expect_result("checked");
    }
  }
}

// A pointer to memory that the process has not: BUFFER on all, where it would be a crash.
TEST(Checked, MemoryThatIsNotThere) {
  if (!checked()) GTEST_SKIP() << "TIDE_CHECK=1 only";
  List list(world(), {param(9, 5), param(4 * world().size, 4096)});
  Pieces grads(world(), Memory::tide, list.grad_bytes()),
      sums(world(), Memory::tide, list.out_bytes(MPIX_TIDE_FP32));
  write_grads(list, grads.list(), {.out_dtype = MPIX_TIDE_FP32});
  const size_t bytes = list.grad_bytes()[1];
  void* gone = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, gone);
  ASSERT_EQ(0, munmap(gone, bytes));
  const int odd_one = world().size - 1;
  const void* in[2] = {grads[0], world().rank == odd_one ? gone : grads[1]};
  const auto call = [&](const void* const* inputs) {
    return MPIX_Tide_reduce_scatter(inputs, sums.list(), MPIX_TIDE_FP32, MPIX_TIDE_SUM, 1.0,
                                    list.group());
  };
  expect_failure_on_all(world(), call(in), {buffer},
                        {"rank " + std::to_string(odd_one), "parameter 1", "TIDE_CHECK"});
  TIDE_OK(call(MPIX_TIDE_INPUTS(grads.list())));
  expect_reduced(list, sums.list(), {.out_dtype = MPIX_TIDE_FP32}, "after the error");
}

}  // namespace
}  // namespace tide_test
