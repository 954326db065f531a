// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Calls in the order of a stream: they see what the stream wrote before them, however late, and
// what follows sees their results, while the host runs ahead.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "stream_buffers.hpp"

namespace tide_test {
namespace {

using StreamOrder = OnAStream;
INSTANTIATE_TEST_SUITE_P(Memory, StreamOrder, testing::Values("system", "cuda:device"),
                         [](const auto& info) { return info.index ? "device" : "host"; });

// Results are taken in the stream, inputs spoiled behind them; the host waits once, at the end.
TEST_P(StreamOrder, HostRunsAhead) {
  constexpr int steps = 6;
  std::vector<const Pieces64*> gathered, summed;
  std::vector<ReduceOptions> options(steps);
  for (int s = 0; s < steps; s++) {
    const auto salt = static_cast<uint64_t>(s);
    buffers_.produce_shards(stream_, salt);
    TIDE_OK(gather());
    buffers_.spoil(stream_, *buffers_.shards, list_.shard_bytes());
    gathered.push_back(buffers_.see_params(stream_));
    options[s].seed = salt + 1;
    options[s].op = s % 2 ? MPIX_TIDE_AVG : MPIX_TIDE_SUM;
    buffers_.produce_grads(stream_, options[s]);
    TIDE_OK(MPIX_Tide_reduce_scatter_enqueue(buffers_.grads_in(), buffers_.sums->at.data(), 0,
                                             options[s].op, 1.0, list_.group(), stream_.handle()));
    buffers_.spoil(stream_, *buffers_.grads, list_.grad_bytes());
    summed.push_back(buffers_.see_sums(stream_));
  }
  stream_.synchronize();
  for (int s = 0; s < steps; s++) {
    expect_gathered(list_, gathered[s]->at.data(), static_cast<uint64_t>(s), "in stream order");
    expect_reduced(list_, summed[s]->at.data(), options[s], "in stream order");
  }
  EXPECT_EQ(MPI_SUCCESS, async());
}

// Two streams and two groups of one communicator: each call after its own stream's work.
TEST_P(StreamOrder, StreamsDoNotWaitForEachOther) {
  List other(world(), {param(17, 9, MPIX_TIDE_FP16)});
  Buffers theirs(other, GetParam());
  TestStream second;
  buffers_.produce_shards(stream_, 3);
  TIDE_OK(gather());
  theirs.produce_shards(second, 4);
  TIDE_OK(MPIX_Tide_allgather_enqueue(theirs.shards_in(), theirs.params->at.data(), other.group(),
                                      second.handle()));
  const auto* seen = buffers_.see_params(stream_);
  const auto* seen_there = theirs.see_params(second);
  second.synchronize();
  stream_.synchronize();
  expect_gathered(list_, seen->at.data(), 3, "of the first stream");
  expect_gathered(other, seen_there->at.data(), 4, "of the second stream");
}

TEST_P(StreamOrder, PersistentRequestsEndByAWaitInTheStream) {
  MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
  TIDE_OK(MPIX_Tide_reduce_scatter_init(buffers_.grads_in(), buffers_.sums->at.data(), 0,
                                        MPIX_TIDE_SUM, 1.0, list_.group(), MPI_INFO_NULL,
                                        &request));
  TIDE_OK(MPIX_Tide_wait_enqueue(&request, stream_.handle()));  // inactive: complete
  constexpr int steps = 4;
  std::vector<const Pieces64*> summed;
  std::vector<ReduceOptions> options(steps);
  for (int s = 0; s < steps; s++) {
    options[s].seed = static_cast<uint64_t>(s) + 7;
    options[s].scale = s + 1.0;
    buffers_.produce_grads(stream_, options[s]);
    TIDE_OK(MPIX_Tide_request_set(request, MPIX_TIDE_SUM, options[s].scale));
    TIDE_OK(MPIX_Tide_start_enqueue(&request, stream_.handle()));
    expect_failure(MPIX_Tide_start_enqueue(&request, stream_.handle()), {tide_test::request});
    TIDE_OK(MPIX_Tide_wait_inputs_enqueue(&request, stream_.handle()));
    buffers_.spoil(stream_, *buffers_.grads, list_.grad_bytes());
    TIDE_OK(MPIX_Tide_wait_enqueue(&request, stream_.handle()));
    summed.push_back(buffers_.see_sums(stream_));
  }
  stream_.synchronize();
  for (int s = 0; s < steps; s++)
    expect_reduced(list_, summed[s]->at.data(), options[s], "of a persistent request");
  // Started in a stream, completed by the host.
  buffers_.produce_grads(stream_, options[0]);
  TIDE_OK(MPIX_Tide_request_set(request, MPIX_TIDE_SUM, options[0].scale));
  TIDE_OK(MPIX_Tide_start_enqueue(&request, stream_.handle()));
  TIDE_OK(MPIX_Tide_wait(&request));
  const auto* last = buffers_.see_sums(stream_);
  stream_.synchronize();
  expect_reduced(list_, last->at.data(), options[0], "completed by the host");
  TIDE_OK(MPIX_Tide_request_free(&request));
  EXPECT_EQ(MPI_SUCCESS, async());
}

// Started by the host, waited for by a stream.
TEST_P(StreamOrder, AStreamWaitsForANonblockingCall) {
  buffers_.produce_shards(stream_, 9);
  stream_.synchronize();
  MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
  TIDE_OK(MPIX_Tide_iallgather(buffers_.shards_in(), buffers_.params->at.data(), list_.group(),
                               &request));
  TIDE_OK(MPIX_Tide_wait_inputs_enqueue(&request, stream_.handle()));
  TIDE_OK(MPIX_Tide_wait_enqueue(&request, stream_.handle()));
  EXPECT_EQ(MPIX_TIDE_REQUEST_NULL, request);
  TIDE_OK(MPIX_Tide_wait_enqueue(&request, stream_.handle()));
  const auto* seen = buffers_.see_params(stream_);
  stream_.synchronize();
  expect_gathered(list_, seen->at.data(), 9, "of a nonblocking call");
  TIDE_OK(MPIX_Tide_allgather(buffers_.shards_in(), buffers_.params->at.data(), list_.group()));
}

TEST_P(StreamOrder, TheHostsCallsComeAfterTheStreams) {
  buffers_.produce_shards(stream_, 2);
  TIDE_OK(gather());
  expect_failure(
      MPIX_Tide_allgather(buffers_.shards_in(), buffers_.params->at.data(), list_.group()),
      {tide_test::request});
  expect_usable(world());  // on other groups: in order
  stream_.synchronize();
  TIDE_OK(MPIX_Tide_allgather(buffers_.shards_in(), buffers_.params->at.data(), list_.group()));
}

// A reduce-scatter over shards, then the sum over replicas, as a training step makes them.
TEST_P(StreamOrder, ShardsAreSummedOverReplicas) {
  MPI_Comm shard = MPI_COMM_NULL, replica = MPI_COMM_NULL;
  TIDE_OK(MPIX_Tide_comm_grid(world().comm, world().size % 2 ? world().size : world().size / 2,
                              &shard, &replica));
  {
    List list(team_of(shard), {param(40, 6, MPIX_TIDE_FP32), param(3, 1, MPIX_TIDE_FP32)});
    Buffers buffers(list, GetParam());
    constexpr int steps = 3;
    std::vector<const Pieces64*> summed;
    std::vector<ReduceOptions> options(steps);
    for (int s = 0; s < steps; s++) {
      options[s].seed = static_cast<uint64_t>(s) + 1;
      buffers.produce_grads(stream_, options[s]);
      TIDE_OK(MPIX_Tide_reduce_scatter_enqueue(buffers.grads_in(), buffers.sums->at.data(), 0,
                                               MPIX_TIDE_SUM, 1.0, list.group(), stream_.handle()));
      TIDE_OK(MPIX_Tide_replica_allreduce_enqueue(buffers.sums->at.data(), 0, MPIX_TIDE_AVG, 1.0,
                                                  list.group(), replica, stream_.handle()));
      summed.push_back(buffers.see_sums(stream_));
    }
    stream_.synchronize();
    // All replicas have the same gradients, small integers: the mean of equal sums is the sum.
    for (int s = 0; s < steps; s++)
      expect_reduced(list, summed[s]->at.data(), options[s], "and averaged over replicas");
    int code = -1;
    TIDE_OK(MPIX_Tide_group_async_error(list.group(), &code));
    EXPECT_EQ(MPI_SUCCESS, code);
  }
  MPI_Comm_free(&shard);
  if (replica != MPI_COMM_NULL) MPI_Comm_free(&replica);
}

// The stream goes on, every rank hears, once and for all, and the group can be used.
TEST_P(StreamOrder, ErrorsAreToldOnAllRanks) {
  auto wrong = buffers_.shards->at;
  if (world().rank == world().size - 1) wrong[0] = nullptr;
  const char before = char{0x11};
  pause(stream_, late_ms);
  TIDE_OK(MPIX_Tide_allgather_enqueue(MPIX_TIDE_INPUTS(wrong.data()), buffers_.params->at.data(),
                                      list_.group(), stream_.handle()));
  stream_.copy(buffers_.params->at[1], &before, 1);
  stream_.synchronize();
  int code = async();
  ASSERT_NE(MPI_SUCCESS, code);
  EXPECT_NE(std::string::npos, std::string(MPIX_Tide_error_message()).find("parameter 0"))
      << MPIX_Tide_error_message();
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  EXPECT_EQ(MPI_ERR_BUFFER, error_class);
  buffers_.produce_shards(stream_, 5);
  TIDE_OK(gather());
  const auto* seen = buffers_.see_params(stream_);
  stream_.synchronize();
  expect_gathered(list_, seen->at.data(), 5, "after an error");
  EXPECT_NE(MPI_SUCCESS, async());  // the first one stays
}

// fp32 shards that are gathered as bf16: large enough to be rounded and copied in several parts, at
// addresses that are not those of vectors.
TEST(StreamOrders, LargeShardsAreRounded) {
  const int types = types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16);
  List list(world(), {param(7, 5, MPIX_TIDE_BF16, types), param(4099, 4100, MPIX_TIDE_BF16, types),
                      param(3, 1, MPIX_TIDE_BF16, types)});
  TestStream stream;
  const size_t bytes = Buffers::bytes(list) + 64;
  void* base = Buffers::allocate(world(), "cuda:device", bytes);
  for (size_t at : {size_t{0}, size_t{4}}) {
    Buffers buffers(list, static_cast<char*>(base) + at);
    buffers.produce_shards(stream, 6 + at);
    TIDE_OK(MPIX_Tide_allgather_enqueue(buffers.shards_in(), buffers.params->at.data(),
                                        list.group(), stream.handle()));
    const auto* seen = buffers.see_params(stream);
    stream.synchronize();
    expect_gathered(list, seen->at.data(), 6 + at, "rounded in parts");
  }
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
}

int mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<int>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

// Two groups on parts of one allocation that begin at no boundary of anything; groups that come and
// go on the same memory leave nothing behind.
TEST_P(StreamOrder, PartsOfOneAllocation) {
  constexpr size_t odd = 2050;
  const List one(world(), {param(64, 33), param(5, 3)}), two(world(), {param(17, 9)});
  const size_t first = odd, second = odd + Buffers::bytes(one) + 2;
  void* base = Buffers::allocate(world(), GetParam(), second + Buffers::bytes(two));
  {
    Buffers a(one, static_cast<char*>(base) + first), b(two, static_cast<char*>(base) + second);
    ReduceOptions options;
    options.seed = 5;
    const auto gather = [&](Buffers& of, const List& list) {
      TIDE_OK(MPIX_Tide_allgather_enqueue(of.shards_in(), of.params->at.data(), list.group(),
                                          stream_.handle()));
      return of.see_params(stream_);
    };
    a.produce_shards(stream_, 1);
    b.produce_shards(stream_, 2);
    const auto* seen_a = gather(a, one);
    const auto* seen_b = gather(b, two);
    a.produce_grads(stream_, options);
    TIDE_OK(MPIX_Tide_reduce_scatter_enqueue(a.grads_in(), a.sums->at.data(), 0, MPIX_TIDE_SUM, 1.0,
                                             one.group(), stream_.handle()));
    const auto* sums = a.see_sums(stream_);
    stream_.synchronize();
    expect_gathered(one, seen_a->at.data(), 1, "in a part");
    expect_gathered(two, seen_b->at.data(), 2, "in another part");
    expect_reduced(one, sums->at.data(), options, "in a part");
    int before = 0;
    for (int k = 0; k < 60; k++) {
      const List again(world(), {param(17, 9)});
      const auto* seen = gather(b, again);
      stream_.synchronize();
      if (k == 0 || k == 59) expect_gathered(again, seen->at.data(), 2, "of a group that goes");
      if (k == 20) before = mappings();
    }
    EXPECT_LE(mappings(), before + 8);
  }
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
}

// What a rank stores in its node takes as long as the cap says, but for the last part (64 KiB to
// each place, here).
TEST(StreamCap, LandingsTakeTheirTime) {
  constexpr double rate = 4e6;
  List list(world(),
            {param(96, 2000, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16)),
             param(50, 3001, MPIX_TIDE_FP16)},
            Info{{"tide_landing_bytes_per_s", "4000000"}});
  Buffers buffers(list, "cuda:device");
  TestStream stream;
  buffers.produce_shards(stream, 9);
  stream.synchronize();
  const double begun = MPI_Wtime();
  TIDE_OK(MPIX_Tide_allgather_enqueue(buffers.shards_in(), buffers.params->at.data(), list.group(),
                                      stream.handle()));
  const auto* seen = buffers.see_params(stream);
  stream.synchronize();
  const double took = MPI_Wtime() - begun;
  expect_gathered(list, seen->at.data(), 9, "under a cap");
  const auto places =
      static_cast<double>(world().members[static_cast<size_t>(world().my_node())].size());
  const std::vector<size_t> shards = list.shard_bytes();  // the first twice as large as it lands
  const double own = static_cast<double>(shards[0]) / 2 + static_cast<double>(shards[1]);
  EXPECT_LE((own - 65536) * places / rate, took);
  std::string report(1 << 14, '\0');
  TIDE_OK(MPIX_Tide_group_report(list.group(), report.data(), report.size(), nullptr));
  EXPECT_NE(std::string::npos, report.find("\"landing_bytes_per_s\": 4000000")) << report;
}

}  // namespace
}  // namespace tide_test
