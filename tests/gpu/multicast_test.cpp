// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// tide_multicast = on, on emulated devices whose multicast objects count the steps that make them:
// who may, what is missing, a step that fails on one rank.  Loaded in front: on_device.cpp.  The
// environment has TIDE_ALLOW_MULTICAST=1.
#include <array>
#include <cstdlib>

#include "list.hpp"

namespace tide_test {
namespace {

class Variable {  // of the environment, for a scope
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* old = std::getenv(name);
    if (old) before_ = old;
    had_ = old != nullptr;
    setenv(name, value, 1);
  }
  ~Variable() { had_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::string before_;
  bool had_;
};

bool culprit() { return world().rank == world().size - 1; }
std::string rank_of_culprit() { return "rank " + std::to_string(world().size - 1); }
bool several() { return world().members[static_cast<size_t>(world().my_node())].size() > 1; }

// The first is large enough that its pieces go by multicast but for their edges, in landings too.
std::vector<MPIX_Tide_param> some() {
  return {param(251, 2051, MPIX_TIDE_FP32), param(64, 513, MPIX_TIDE_FP32), param(33, 65),
          param(9, 5, MPIX_TIDE_FP32),
          param(64, 333, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16))};
}

std::string report_of(const List& list) {
  std::string text(1 << 14, '\0');
  TIDE_OK(MPIX_Tide_group_report(list.group(), text.data(), text.size(), nullptr));
  return text.c_str();
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

void check_both(const List& list) {
  check_allgather(list);
  check_allgather(list, {.shift_bytes = 4, .salt = 1});
  check_reduce_scatter(list);
  check_reduce_scatter(list,
                       {.out_dtype = MPIX_TIDE_FP32, .op = MPIX_TIDE_AVG, .accumulate = true});
}

void expect_refused(std::initializer_list<std::string> words) {
  Info info{{"tide_multicast", "on"}};
  const MPIX_Tide_param p = param(5, 3);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  expect_failure_on_all(world(), MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &p, info, &group),
                        {unsupported}, words);
}
void expect_left_out(std::initializer_list<std::string> words) {
  Info unsure{{"tide_multicast", "auto"}};
  List list(world(), {param(64, 513)}, unsure);
  check_allgather(list);
  const std::string report = report_of(list);
  EXPECT_TRUE(says(report, "\"state\": \"off\"")) << report;
  for (const std::string& word : words) EXPECT_TRUE(says(report, word)) << word << report;
}

TEST(MulticastOn, IsRefusedWhereSomethingIsMissingOnARank) {
  const std::array<const char*, 3> missing[] = {
      {"TIDE_ALLOW_MULTICAST", "0", "TIDE_ALLOW_MULTICAST"},
      {"TIDE_EMULATED_MULTICAST", "none", "attribute is 0"},
      {"TIDE_EMULATED_DEVICES", "0", "no device"}};
  for (const auto& [name, value, words] : missing) {
    const Variable variable(culprit() ? name : "TEST_UNUSED", value);
    expect_refused({"tide_multicast = on", rank_of_culprit(), words});
    if (std::string(words) != "no device") expect_left_out({rank_of_culprit(), words});
  }
}

TEST(MulticastOn, HostMemoryIsRefusedInACall) {
  Info info{{"tide_multicast", "on"}};
  List list(world(), {param(4 * world().size, 3, MPIX_TIDE_FP32)}, info);
  void *host = nullptr, *shard[1], *whole[1];
  Info kind{{"mpi_memory_alloc_kinds", "system"}};
  const size_t full = list.full_bytes()[0];
  TIDE_OK(PMPIX_Tide_alloc(MPI_COMM_WORLD, static_cast<MPI_Aint>(2 * full), kind, &host));
  shard[0] = host;
  whole[0] = static_cast<char*>(host) + full;
  expect_failure_on_all(world(), PMPIX_Tide_allgather(MPIX_TIDE_INPUTS(shard), whole, list.group()),
                        {unsupported}, {"host memory", "tide_multicast=on"});
  TIDE_OK(PMPIX_Tide_free(MPI_COMM_NULL, host));
}

TEST(MulticastOn, CarriesCopiesAndSums) {
  Info info{{"tide_multicast", "on"}};
  List list(world(), some(), info);
  check_both(list);
  List in_place(world(), {param(64, 513, MPIX_TIDE_FP32), param(33, 65)}, info);
  check_allgather(in_place, {.in_place = InPlace::mixed, .shift_bytes = 4});
  const std::string report = report_of(list);
  EXPECT_TRUE(says(report, "\"state\": \"on\"")) << report;
  EXPECT_TRUE(says(report, "not run on hardware")) << report;
  EXPECT_EQ(several(), says(report, "\"path\": \"cuda-multicast\"")) << report;
  EXPECT_TRUE(says(report, "\"reproducible\": false")) << report;
}

// What lands from other nodes is in device memory then, and so a switch's to add.
TEST(MulticastOn, AddsWhatNcclBrings) {
  Info info{{"tide_multicast", "on"}, {"tide_rail", "nccl"}};
  List list(world(), some(), info);
  check_both(list);
  EXPECT_EQ(several(), says(report_of(list), "\"path\": \"cuda-multicast\""));
}

TEST(MulticastOn, AFailedStepIsAnErrorOnAllRanks) {
  if (!several()) GTEST_SKIP() << "for nodes of several ranks";
  const Variable on("TIDE_MULTICAST", "on");
  const bool first = world().rank == world().members[0][0], last = culprit();
  for (const char* step : {"create", "attach", "add", "bind", "map"}) {
    const bool mine = std::string(step) == "create" ? first : last;
    const Variable variable(mine ? "TIDE_EMULATED_MULTICAST" : "TEST_UNUSED", step);
    void* base = nullptr;
    expect_failure_on_all(world(), MPIX_Tide_alloc(MPI_COMM_WORLD, 4096, MPI_INFO_NULL, &base),
                          {unsupported}, {"tide_multicast = on", "rank ", step});
    EXPECT_EQ(nullptr, base);
  }
  expect_usable(world());
}

TEST(MulticastAuto, AFailedStepLeavesMemoryWithout) {
  if (!several()) GTEST_SKIP() << "for nodes of several ranks";
  Info info{{"tide_multicast", "auto"}};
  List list(world(), some(), info);
  for (const char* step : {"create", "attach", "add", "bind", "map"}) {
    const Variable variable(
        culprit() || std::string(step) == "create" ? "TIDE_EMULATED_MULTICAST" : "TEST_UNUSED",
        step);
    check_both(list);
    EXPECT_FALSE(says(report_of(list), "cuda-multicast")) << step;
  }
  check_both(list);
  EXPECT_TRUE(says(report_of(list), "cuda-multicast"));
}

}  // namespace
}  // namespace tide_test
