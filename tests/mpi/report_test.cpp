// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The report of a group: JSON that tells path, rail, rounds and the bytes on the rails, which must
// be the least there can be.  Any ranks, any map.
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "list.hpp"

namespace tide_test {
namespace {

nlohmann::json report_of(const List& list) {
  size_t needed = 0;
  TIDE_OK(MPIX_Tide_group_report(list.group(), nullptr, 0, &needed));
  std::string text(needed + 16, '#');
  TIDE_OK(MPIX_Tide_group_report(list.group(), text.data(), text.size(), &needed));
  return nlohmann::json::parse(text.c_str(), nullptr, false);
}

// tide_rail = auto: MPI, where there is no verbs device.
std::string rail_between_nodes() {
  const char* asked = std::getenv("TIDE_RAIL");
  return asked && *asked && std::strcmp(asked, "auto") != 0 ? asked : "mpi";
}

// Bytes that the other nodes' ranks of my rail own, with bytes_per_elem for each element: what a
// rank must receive.
long long rail_bytes(const List& list, size_t bytes_per_elem) {
  const Team& team = list.team();
  long long bytes = 0;
  for (size_t n = 0; n < team.members.size(); ++n) {
    if (static_cast<int>(n) == team.my_node()) continue;
    const int r = team.members[n][static_cast<size_t>(team.my_local())];
    for (size_t p = 0; p < list.count(); ++p)
      bytes +=
          list.rows(p, r) * list.params()[p].row_elems * static_cast<long long>(bytes_per_elem);
  }
  return bytes;
}

long long sum_over_ranks(long long mine) {
  long long all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int log2_rounds(size_t nodes) {
  int rounds = 0;
  while (size_t{1} << rounds < nodes) ++rounds;
  return rounds;
}

TEST(Report, CarriesPathRailAndRounds) {
  List list(world(), {param(64, 33), param(9, 5)});
  check_allgather(list);
  check_reduce_scatter(list);
  const auto report = report_of(list);
  ASSERT_TRUE(report.is_object());
  const bool one_node = world().members.size() == 1;
  for (const char* collective : {"allgather", "reduce_scatter"}) {
    ASSERT_TRUE(report.contains(collective)) << report.dump();
    const auto& j = report[collective];
    EXPECT_EQ("host-direct", j["path"]) << j.dump();
    EXPECT_EQ(one_node ? "none" : rail_between_nodes(), j["rail"]) << j.dump();
    EXPECT_TRUE(j["rounds"].is_number()) << j.dump();
    EXPECT_EQ(true, j["reproducible"]) << j.dump();
    EXPECT_TRUE(j.contains("workspace_bytes")) << j.dump();
    if (world().uniform()) {  // else some ranks carry nothing
      EXPECT_EQ(one_node, j["rail_bytes"] == 0) << j.dump();
    }
  }
  EXPECT_EQ(log2_rounds(world().members.size()), report["allgather"]["rounds"].get<int>())
      << "ceil(log2 nodes)";
  if (world().uniform() && !one_node) {
    MPIX_Tide_sizes sizes;
    TIDE_OK(MPIX_Tide_group_sizes(list.group(), &sizes));
    EXPECT_EQ(sizes.allgather_workspace_bytes,
              report["allgather"]["workspace_bytes"].get<MPI_Count>());
    EXPECT_EQ(sizes.reduce_scatter_workspace_bytes,
              report["reduce_scatter"]["workspace_bytes"].get<MPI_Count>());
  }
}

TEST(Report, RailBytesAreTheLeastThereCanBe) {
  if (!world().uniform() || world().members.size() == 1) GTEST_SKIP() << "for several equal nodes";
  const MPI_Count n = world().size;
  List even(world(), {param(8 * n, 33), param(n, 5)}), uneven(world(), {param(23, 5), param(7, 3)});
  for (const List* list : {&even, &uneven}) {
    check_allgather(*list);
    check_reduce_scatter(*list, {.out_dtype = MPIX_TIDE_FP32});
    const auto report = report_of(*list);
    const long long gathered = report["allgather"]["rail_bytes"].get<long long>(),
                    reduced = report["reduce_scatter"]["rail_bytes"].get<long long>();
    // One or two bf16 ranks on a node send raw slices: no more bytes than one fp32 partial, half of
    // it where a rank is alone.
    const size_t bytes = world().members[0].size() == 1 ? 2 : 4;
    EXPECT_EQ(sum_over_ranks(rail_bytes(*list, 2)), sum_over_ranks(gathered))
        << "all-gather, all ranks together";
    EXPECT_EQ(sum_over_ranks(rail_bytes(*list, bytes)), sum_over_ranks(reduced))
        << "reduce-scatter, all ranks together";
    if (list != &even) continue;  // where shards differ, a rank does not send what it receives
    EXPECT_EQ(rail_bytes(*list, 2), gathered);
    EXPECT_EQ(rail_bytes(*list, bytes), reduced);
  }
}

// Memory of Tide's lies at one offset on all ranks; one parameter's pieces begin at odd bytes.
TEST(Report, EmulatedMulticast) {
  const bool several = world().members[static_cast<size_t>(world().my_node())].size() > 1;
  for (const char* order : {"node", "rank"}) {
    Info info{{"tide_multicast", "emulate"}, {"tide_order", order}};
    List list(world(), {param(64, 513, MPIX_TIDE_FP32), param(9, 5, MPIX_TIDE_FP32)}, info);
    check_allgather(list);
    check_allgather(list, {.in_place = InPlace::mixed, .shift_bytes = 4, .salt = 1});
    check_reduce_scatter(list);
    const auto report = report_of(list);
    EXPECT_EQ("emulated", report["multicast"]["state"]) << report.dump();
    EXPECT_NE(std::string::npos, report["multicast"]["note"].dump().find("not run on hardware"));
    EXPECT_EQ(several ? "host-multicast" : "host-direct", report["allgather"]["path"]);
    EXPECT_EQ(true, report["allgather"]["reproducible"]);
    const bool in_order = std::string(order) == "rank";
    EXPECT_EQ(several && !in_order ? "host-multicast" : "host-direct",
              report["reduce_scatter"]["path"]);
    EXPECT_EQ(in_order, report["reduce_scatter"]["reproducible"]);
  }
  Info info{{"tide_multicast", "emulate"}};  // memory that has no such address
  List list(world(), {param(64, 513)}, info);
  check_allgather(list, {.shards = Memory::foreign, .params = Memory::foreign});
  EXPECT_EQ(std::string::npos, report_of(list)["allgather"]["path"].dump().find("multicast"));
}

TEST(Report, MulticastOffSaysNothing) {
  List list(world(), {param(9, 5)});
  const auto multicast = report_of(list)["multicast"];
  EXPECT_EQ("off", multicast["state"]) << multicast.dump();
  EXPECT_FALSE(multicast.contains("note")) << multicast.dump();
  Info info{{"tide_multicast", "auto"}};
  List asking(world(), {param(9, 5)}, info);
  const auto report = report_of(asking);
  EXPECT_EQ("off", report["multicast"]["state"]) << report.dump();
  EXPECT_NE(std::string::npos,
            report["allgather"]["why_not_better"].dump().find("multicast: rank 0: "))
      << report.dump();
}

TEST(Report, SizeIsRespected) {
  List list(world(), {param(9, 5)});
  size_t needed = 0, again = 0;
  TIDE_OK(MPIX_Tide_group_report(list.group(), nullptr, 0, &needed));
  ASSERT_GT(needed, 10u);
  std::string text(needed + 8, '#');
  TIDE_OK(MPIX_Tide_group_report(list.group(), text.data(), 10, &again));
  EXPECT_EQ(needed, again);
  EXPECT_EQ('#', text[10]) << "written past the size that was given";
  TIDE_OK(MPIX_Tide_group_report(list.group(), text.data(), text.size(), nullptr));
  const size_t length = std::strlen(text.c_str());
  EXPECT_TRUE(needed == length || needed == length + 1) << needed << " " << length;
}

#if TEST_TIDE_UCX
class Duplicate {
 public:
  Duplicate() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  ~Duplicate() { MPI_Comm_free(&comm_); }
  Duplicate(const Duplicate&) = delete;
  Duplicate& operator=(const Duplicate&) = delete;
  // What group_create says of these info keys; a group that it makes is freed.
  int group(const Info& info) const {
    const MPIX_Tide_param p = param(8, 5);
    MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
    const int code = MPIX_Tide_group_create(comm_, 1, &p, info, &group);
    if (code == MPI_SUCCESS) TIDE_OK(MPIX_Tide_group_free(&group));
    return code;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// By name, when the group is made: UCX itself warns, and finds no way to a peer later.
TEST(Report, DevicesThatUcxDoesNotOpenAreRefused) {
  if (world().members.size() == 1) GTEST_SKIP() << "for several nodes";
  const Duplicate one;
  expect_failure_on_all(world(),
                        one.group(Info{{"tide_rail", "ucx"}, {"tide_rail_devices", "nosuch0"}}),
                        {unsupported}, {"no device nosuch0", "TIDE_RAIL"});
  TIDE_OK(one.group(Info{{"tide_rail", "mpi"}}));
  const Duplicate other;
  expect_failure_on_all(
      world(), other.group(Info{{"tide_rail", "ucx"}, {"tide_rail_devices", "lo+a+b+c+d"}}), {arg},
      {"names 5 devices", "4 at most"});
}

TEST(Report, RailsOfACommunicatorKeepTheirDevices) {
  if (world().members.size() == 1) GTEST_SKIP() << "for several nodes";
  const Duplicate one;
  TIDE_OK(one.group(Info{{"tide_rail", "ucx"}, {"tide_rail_devices", "lo"}}));
  expect_failure_on_all(world(),
                        one.group(Info{{"tide_rail", "ucx"}, {"tide_rail_devices", "eth9"}}), {arg},
                        {"eth9", "'lo'", "MPI_Comm_dup"});
  TIDE_OK(one.group(Info{{"tide_rail", "ucx"}, {"tide_rail_devices", "lo"}}));
  TIDE_OK(one.group(Info{{"tide_rail", "ucx"}}));
}
#endif

}  // namespace
}  // namespace tide_test
