// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Calls in a graph: each run of it makes them anew, with what lies in the buffers then, while the
// host runs ahead.
#include "stream_buffers.hpp"

namespace tide_test {
namespace {

class StreamGraph : public OnAStream {
 protected:
  TestGraph graph_;
};
INSTANTIATE_TEST_SUITE_P(Memory, StreamGraph, testing::Values("system", "cuda:device"),
                         [](const auto& info) { return info.index ? "device" : "host"; });

// An all-gather, and a persistent reduce-scatter beside it, three times and more; calls that are
// not in the graph come between its runs.
TEST_P(StreamGraph, RunsAsOftenAsItIsLaunched) {
  constexpr int steps = 5;
  List other(world(), {param(17, 9, MPIX_TIDE_FP16)});
  Buffers theirs(other, GetParam());
  MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
  TIDE_OK(MPIX_Tide_reduce_scatter_init(buffers_.grads_in(), buffers_.sums->at.data(), 0,
                                        MPIX_TIDE_SUM, 1.0, list_.group(), MPI_INFO_NULL,
                                        &request));
  graph_.begin(stream_);
  TIDE_OK(MPIX_Tide_start_enqueue(&request, stream_.handle()));
  TIDE_OK(gather());
  TIDE_OK(MPIX_Tide_wait_inputs_enqueue(&request, stream_.handle()));
  TIDE_OK(MPIX_Tide_wait_enqueue(&request, stream_.handle()));
  TIDE_OK(MPIX_Tide_wait_enqueue(&request, stream_.handle()));  // waited for already
  graph_.end(stream_);

  std::vector<const Pieces64*> gathered, summed, gathered_there;
  std::vector<ReduceOptions> options(steps);
  for (int s = 0; s < steps; s++) {
    const auto salt = static_cast<uint64_t>(s);
    options[s].seed = salt + 1;
    buffers_.produce_shards(stream_, salt);
    buffers_.produce_grads(stream_, options[s]);
    graph_.launch(stream_);
    buffers_.spoil(stream_, *buffers_.shards, list_.shard_bytes());
    buffers_.spoil(stream_, *buffers_.grads, list_.grad_bytes());
    theirs.produce_shards(stream_, salt + 40);
    TIDE_OK(MPIX_Tide_allgather_enqueue(theirs.shards_in(), theirs.params->at.data(), other.group(),
                                        stream_.handle()));
    gathered.push_back(buffers_.see_params(stream_));
    summed.push_back(buffers_.see_sums(stream_));
    gathered_there.push_back(theirs.see_params(stream_));
    if (s == steps - 2) TIDE_OK(MPIX_Tide_request_free(&request));  // the graph still has the call
  }
  stream_.synchronize();
  for (int s = 0; s < steps; s++) {
    const auto salt = static_cast<uint64_t>(s);
    expect_gathered(list_, gathered[s]->at.data(), salt, "in a graph");
    expect_reduced(list_, summed[s]->at.data(), options[s], "in a graph");
    expect_gathered(other, gathered_there[s]->at.data(), salt + 40, "between runs of a graph");
  }
  EXPECT_EQ(MPI_SUCCESS, async());
}

// Runs of two graphs, one after the other, before the host looks; then the group's other calls.
TEST_P(StreamGraph, GraphsTakeTurns) {
  TestGraph second;
  Buffers theirs(list_, GetParam());
  graph_.begin(stream_);
  TIDE_OK(gather());
  graph_.end(stream_);
  second.begin(stream_);
  TIDE_OK(MPIX_Tide_allgather_enqueue(theirs.shards_in(), theirs.params->at.data(), list_.group(),
                                      stream_.handle()));
  second.end(stream_);
  buffers_.produce_shards(stream_, 1);
  theirs.produce_shards(stream_, 2);
  std::vector<const Pieces64*> seen, seen_there;
  for (int s = 0; s < 20; s++) {
    graph_.launch(stream_);
    second.launch(stream_);
  }
  const auto* first_seen = buffers_.see_params(stream_);
  const auto* second_seen = theirs.see_params(stream_);
  stream_.synchronize();
  expect_gathered(list_, first_seen->at.data(), 1, "of the first graph");
  expect_gathered(list_, second_seen->at.data(), 2, "of the second graph");
  TIDE_OK(MPIX_Tide_allgather(theirs.shards_in(), buffers_.params->at.data(), list_.group()));
  const auto* by_host = buffers_.see_params(stream_);
  stream_.synchronize();
  expect_gathered(list_, by_host->at.data(), 2, "by the host");
}

// A graph's calls keep their order where the first has to wait, on one rank, for an operation of
// the host's.
TEST_P(StreamGraph, TheHostsOperationsDoNotChangeTheOrder) {
  List other(world(), {param(17, 9, MPIX_TIDE_FP16)});
  Buffers theirs(other, GetParam());
  MPIX_Tide_request first = MPIX_TIDE_REQUEST_NULL, second = MPIX_TIDE_REQUEST_NULL,
                    hosts = MPIX_TIDE_REQUEST_NULL;
  TIDE_OK(MPIX_Tide_allgather_init(buffers_.shards_in(), buffers_.params->at.data(), list_.group(),
                                   MPI_INFO_NULL, &first));
  TIDE_OK(MPIX_Tide_allgather_init(theirs.shards_in(), theirs.params->at.data(), other.group(),
                                   MPI_INFO_NULL, &second));
  graph_.begin(stream_);
  for (auto* request : {&first, &second})
    TIDE_OK(MPIX_Tide_start_enqueue(request, stream_.handle()));
  for (auto* request : {&first, &second})
    TIDE_OK(MPIX_Tide_wait_enqueue(request, stream_.handle()));
  graph_.end(stream_);
  buffers_.produce_shards(stream_, 1);
  theirs.produce_shards(stream_, 2);
  stream_.synchronize();
  TIDE_OK(MPIX_Tide_iallgather(buffers_.shards_in(), buffers_.params->at.data(), list_.group(),
                               &hosts));
  if (world().rank != 0) TIDE_OK(MPIX_Tide_wait(&hosts));
  graph_.launch(stream_);
  std::this_thread::sleep_for(std::chrono::milliseconds(2 * late_ms));
  TIDE_OK(MPIX_Tide_wait(&hosts));
  const auto* seen = buffers_.see_params(stream_);
  const auto* seen_there = theirs.see_params(stream_);
  stream_.synchronize();
  EXPECT_EQ(MPI_SUCCESS, async());
  expect_gathered(list_, seen->at.data(), 1, "of the first call");
  expect_gathered(other, seen_there->at.data(), 2, "of the second call");
  for (auto* request : {&first, &second}) TIDE_OK(MPIX_Tide_request_free(request));
}

// Two calls, of which the second needs the first.
TEST_P(StreamGraph, ShardsAreSummedOverReplicas) {
  MPI_Comm shard = MPI_COMM_NULL, replica = MPI_COMM_NULL;
  TIDE_OK(MPIX_Tide_comm_grid(world().comm, world().size % 2 ? world().size : world().size / 2,
                              &shard, &replica));
  {
    List list(team_of(shard), {param(40, 6, MPIX_TIDE_FP32), param(3, 1, MPIX_TIDE_FP32)});
    Buffers buffers(list, GetParam());
    TestGraph graph;
    graph.begin(stream_);
    TIDE_OK(MPIX_Tide_reduce_scatter_enqueue(buffers.grads_in(), buffers.sums->at.data(), 0,
                                             MPIX_TIDE_SUM, 1.0, list.group(), stream_.handle()));
    TIDE_OK(MPIX_Tide_replica_allreduce_enqueue(buffers.sums->at.data(), 0, MPIX_TIDE_AVG, 1.0,
                                                list.group(), replica, stream_.handle()));
    graph.end(stream_);
    constexpr int steps = 3;
    std::vector<const Pieces64*> summed;
    std::vector<ReduceOptions> options(steps);
    for (int s = 0; s < steps; s++) {
      options[s].seed = static_cast<uint64_t>(s) + 1;
      buffers.produce_grads(stream_, options[s]);
      graph.launch(stream_);
      summed.push_back(buffers.see_sums(stream_));
    }
    stream_.synchronize();
    for (int s = 0; s < steps; s++)
      expect_reduced(list, summed[s]->at.data(), options[s], "and averaged over replicas");
  }
  MPI_Comm_free(&shard);
  if (replica != MPI_COMM_NULL) MPI_Comm_free(&replica);
}

// Each run tells all ranks, and the stream goes on.
TEST_P(StreamGraph, ErrorsAreToldOnAllRanks) {
  auto wrong = buffers_.shards->at;
  if (world().rank == world().size - 1) wrong[0] = nullptr;
  graph_.begin(stream_);
  TIDE_OK(MPIX_Tide_allgather_enqueue(MPIX_TIDE_INPUTS(wrong.data()), buffers_.params->at.data(),
                                      list_.group(), stream_.handle()));
  graph_.end(stream_);
  EXPECT_EQ(MPI_SUCCESS, async());  // nothing has run
  for (int k = 0; k < 2; k++) graph_.launch(stream_);
  stream_.synchronize();
  int error_class = 0;
  MPI_Error_class(async(), &error_class);
  EXPECT_EQ(MPI_ERR_BUFFER, error_class) << MPIX_Tide_error_message();
  EXPECT_NE(std::string::npos, std::string(MPIX_Tide_error_message()).find("parameter 0"))
      << MPIX_Tide_error_message();
  buffers_.produce_shards(stream_, 5);
  TIDE_OK(gather());
  const auto* seen = buffers_.see_params(stream_);
  stream_.synchronize();
  expect_gathered(list_, seen->at.data(), 5, "after an error");
}

TEST_P(StreamGraph, AWaitBelongsToTheCaptureOfItsStart) {
  MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
  TIDE_OK(MPIX_Tide_allgather_init(buffers_.shards_in(), buffers_.params->at.data(), list_.group(),
                                   MPI_INFO_NULL, &request));
  buffers_.produce_shards(stream_, 1);
  TIDE_OK(MPIX_Tide_start_enqueue(&request, stream_.handle()));
  TestStream second;
  graph_.begin(second);
  expect_failure(MPIX_Tide_wait_enqueue(&request, second.handle()), {tide_test::request});
  expect_failure(MPIX_Tide_wait_inputs_enqueue(&request, second.handle()), {tide_test::request});
  expect_failure(MPIX_Tide_start_enqueue(&request, second.handle()), {tide_test::request});
  graph_.end(second);
  TIDE_OK(MPIX_Tide_wait_enqueue(&request, stream_.handle()));
  stream_.synchronize();
  {
    TestGraph without_wait, later;
    without_wait.begin(second);
    TIDE_OK(MPIX_Tide_start_enqueue(&request, second.handle()));
    without_wait.end(second);
    later.begin(second);
    expect_failure(MPIX_Tide_wait_enqueue(&request, second.handle()), {tide_test::request});
    later.end(second);
  }
  TIDE_OK(MPIX_Tide_request_free(&request));
}

}  // namespace
}  // namespace tide_test
