// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The nccl rail, with the fake library of fake_nccl.cpp on emulated devices, or a real one on GPUs
// (then only what works is tried).  Two or more nodes; loaded in front: on_device.cpp.
#include <cstdlib>
#include <cstring>

#include "list.hpp"

namespace tide_test {
namespace {

bool fake() {
  const char* file = std::getenv("TIDE_NCCL_LIBRARY");
  return file && std::strstr(file, "fake");
}

class Variable {  // of the fake library, on this rank
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

std::vector<MPIX_Tide_param> large(MPI_Count rows = 511) { return {param(rows, 65), param(7, 3)}; }

std::string report_of(const List& list) {
  std::string text(1 << 14, '\0');
  TIDE_OK(MPIX_Tide_group_report(list.group(), text.data(), text.size(), nullptr));
  return text.c_str();
}

void expect_says(const std::string& text, const std::string& words) {
  EXPECT_NE(std::string::npos, text.find(words)) << text;
}

void check_both(const List& list) {
  check_allgather(list);
  check_reduce_scatter(list, {.out_dtype = MPIX_TIDE_FP32});
}

void expect_refused(MPI_Comm comm, const std::string& words) {
  Info info{{"tide_rail", "nccl"}};
  const MPIX_Tide_param p = param(511, 65);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  expect_failure(MPIX_Tide_group_create(comm, 1, &p, info, &group), {unsupported});
  expect_says(MPIX_Tide_error_message(), words);
}

TEST(Nccl, CarriesDeviceMemory) {
  Comm comm(dup(MPI_COMM_WORLD));
  Info info{{"tide_rail", "nccl"}};
  List list(team_of(comm), large(), info);
  check_both(list);
  expect_says(report_of(list), "\"rail\": \"nccl\"");
  expect_says(report_of(list), "\"rail_devices\": \"NCCL 2.");
  List tiny(list.team(), {param(9, 5)}, info);  // comes with the entry, by way of host memory
  check_both(tiny), check_both(list);
}

// Three sizes: the first workspace is let go while the second is in use.
TEST(Nccl, GrowsItsWorkspace) {
  Comm comm(dup(MPI_COMM_WORLD));
  Info info{{"tide_rail", "nccl"}};
  const Team team = team_of(comm);
  List small(team, large(), info);
  check_both(small);
  List middle(team, large(20001), info);
  check_both(middle), check_both(small);
  List big(team, large(50001), info);
  check_both(big), check_both(small), check_both(middle);
}

TEST(Nccl, AutoTakesItForGroupsThatNameADevice) {
  Comm comm(dup(MPI_COMM_WORLD));
  const char* set = std::getenv("TIDE_DEVICE");
  Info info{{"tide_rail", "auto"}, {"tide_device", set ? set : "0"}};
  List list(team_of(comm), large(), info);
  check_both(list);
  expect_says(report_of(list), "\"rail\": \"nccl\"");
}

TEST(Nccl, WithoutWindowsAutoGoesOnAndNcclIsRefused) {
  Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  if (!fake()) GTEST_SKIP() << "asks the fake library for failures";
  const Variable none("FAKE_NCCL_NULL_WINDOWS", "1");
  Info device{{"tide_device", "0"}};
  List list(team, large(), device);
  check_both(list);
  const std::string report = report_of(list);
  expect_says(report, "nccl is not used: rank 0: NCCL 2.32.3 has no windows between these ranks");
  expect_says(report, "\"rail\": \"mpi\"");
  expect_refused(comm, "tide_rail = nccl: rank 0: NCCL 2.32.3 has no windows");
  expect_usable(team);
}

TEST(Nccl, ARankThatFailsInitIsNamedAndNobodyHangs) {
  if (!fake()) GTEST_SKIP() << "asks the fake library for failures";
  Comm comm(dup(MPI_COMM_WORLD));
  const int last = world().size - 1;  // NCCL's ranks are node-major
  const Variable fails("FAKE_NCCL_FAIL_INIT", std::to_string(last));
  expect_refused(comm, "ncclCommInitRank: unhandled system error: as FAKE_NCCL_FAIL_INIT asks");
  const int culprit = world().members.back().back();
  expect_says(MPIX_Tide_error_message(), "rank " + std::to_string(culprit) + ": ");
  expect_usable(team_of(comm));
}

// NCCL is given up: groups that had it go on over the other rail, further ones get that or an
// error.
TEST(Nccl, AWorkspaceThatCannotGrow) {
  if (!fake()) GTEST_SKIP() << "asks the fake library for failures";
  Comm comm(dup(MPI_COMM_WORLD));
  const Team team = team_of(comm);
  Info info{{"tide_rail", "nccl"}}, any{{"tide_device", "0"}};
  List small(team, large(), info);
  check_both(small);
  {
    const Variable fails("FAKE_NCCL_FAIL_REGISTER", "0:1");
    const MPIX_Tide_param p = param(20001, 65);
    MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
    expect_failure(MPIX_Tide_group_create(comm, 1, &p, info, &group), {unsupported});
    List other(team, large(20001), any);
    check_both(other);
    expect_says(report_of(other), "\"rail\": \"mpi\"");
  }
  check_both(small);
  expect_says(report_of(small), "\"rail\": \"mpi\"");
  expect_says(report_of(small), "nccl was given up: rank ");
}

TEST(Nccl, AnErrorOfNcclEndsTheCalls) {
  if (!fake()) GTEST_SKIP() << "asks the fake library for failures";
  Comm comm(dup(MPI_COMM_WORLD));
  Info info{{"tide_rail", "nccl"}};
  List list(team_of(comm), large(), info);
  check_both(list);
  const Variable lost("FAKE_NCCL_LOST_PEER", "1");
  int code = MPI_SUCCESS;
  std::vector<void*> params;
  for (size_t bytes : list.full_bytes()) {
    void* at = nullptr;
    TIDE_OK(MPIX_Tide_alloc(comm, static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &at));
    params.push_back(at);
  }
  for (int i = 0; i < 1000 && code == MPI_SUCCESS; i++)
    code = MPIX_Tide_allgather(MPIX_TIDE_IN_PLACE, params.data(), list.group());
  expect_failure(code, {{MPIX_TIDE_ERR_PEER, 0}});
  const std::string message = MPIX_Tide_error_message();  // of the others: who gave up
  int says = message.find("NCCL lost a peer: remote process exited") != std::string::npos, any = 0;
  MPI_Allreduce(&says, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_TRUE(any) << message;
}

}  // namespace
}  // namespace tide_test
