// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Training steps through a pipeline in the order of a stream, in device memory, while the host runs
// ahead: parameters are the gathered shards of the step, gradients begin with zeros, results are
// those of the definition.
#include <algorithm>

#include "stream_buffers.hpp"

namespace tide_test {
namespace {

struct Plan {
  int mode, prefetch;
};

class StreamPipeline : public testing::TestWithParam<Plan> {
 protected:
  static constexpr int layers = 4;
  StreamPipeline() {
    const int types = types_of(MPIX_TIDE_FP32, MPIX_TIDE_BF16);
    std::vector<MPIX_Tide_group> groups;
    for (int l = 0; l < layers; l++) {
      lists_.push_back(std::make_unique<List>(
          world(), std::vector<MPIX_Tide_param>{param(40 + 9 * (l % 2), 6, MPIX_TIDE_BF16, types),
                                                param(0, 3, MPIX_TIDE_BF16, types),
                                                param(7, 1, MPIX_TIDE_BF16, types)}));
      buffers_.push_back(std::make_unique<Buffers>(*lists_.back(), "cuda:device"));
      groups.push_back(lists_.back()->group());
    }
    MPIX_Tide_schedule schedule{};
    schedule.nlayers = layers;
    schedule.groups = groups.data();
    schedule.mode = GetParam().mode;
    schedule.prefetch = GetParam().prefetch;
    schedule.reshard_after_forward = 1;
    Info info{{"mpi_memory_alloc_kinds", "cuda:device"}};
    TIDE_OK(MPIX_Tide_pipeline_create(&schedule, info, &pipeline_));
    for (int l = 0; l < layers; l++)
      TIDE_OK(
          MPIX_Tide_pipeline_bind(pipeline_, l, buffer(l).shards_in(), buffer(l).sums->at.data()));
  }
  ~StreamPipeline() override {
    if (pipeline_ != MPIX_TIDE_PIPELINE_NULL) TIDE_OK(MPIX_Tide_pipeline_free(&pipeline_));
  }
  Buffers& buffer(int l) { return *buffers_[static_cast<size_t>(l)]; }
  List& list(int l) { return *lists_[static_cast<size_t>(l)]; }

  struct Seen {
    int layer;
    uint64_t salt;
    const Pieces64 *params = nullptr, *zeros = nullptr, *sums = nullptr;
    ReduceOptions options;
  };
  // In the stream: a pause, as if it computed, and what stands in the slot.
  const Pieces64* look(int l, void* const at[], const std::vector<size_t>& sizes) {
    auto* host = buffer(l).keep(sizes);
    pause(stream_, 2);
    for (size_t p = 0; p < sizes.size(); p++)
      if (sizes[p]) stream_.copy(host->at[p], at[p], sizes[p]);
    return host;
  }
  void visit(int l, uint64_t salt, bool backward, bool no_sync) {
    Seen seen{l, salt, nullptr, nullptr, nullptr, {}};
    std::vector<void*> at(list(l).count());
    TIDE_OK(MPIX_Tide_pipeline_gather(pipeline_, l, at.data(), stream_.handle()));
    seen.params = look(l, at.data(), list(l).full_bytes());
    if (backward) {
      seen.options.seed = salt * 16 + static_cast<uint64_t>(l);
      seen.options.op = MPIX_TIDE_AVG;
      TIDE_OK(MPIX_Tide_pipeline_grads(pipeline_, l, at.data(), stream_.handle()));
      seen.zeros = look(l, at.data(), list(l).grad_bytes());
      auto* mine = buffer(l).keep(list(l).grad_bytes());
      write_grads(list(l), mine->at.data(), seen.options);
      const auto sizes = list(l).grad_bytes();
      for (size_t p = 0; p < sizes.size(); p++)
        if (sizes[p] && !no_sync) stream_.copy(at[p], mine->at[p], sizes[p]);
      TIDE_OK(MPIX_Tide_pipeline_reduce(pipeline_, l, 0, MPIX_TIDE_AVG, 1.0, stream_.handle()));
    }
    TIDE_OK(MPIX_Tide_pipeline_release(pipeline_, l, stream_.handle()));
    seen_.push_back(seen);
  }
  void micro_batch(uint64_t salt, bool no_sync = false) {
    for (int l = 0; l < layers; l++) buffer(l).produce_shards(stream_, salt);
    TIDE_OK(MPIX_Tide_pipeline_begin(pipeline_, no_sync ? MPIX_TIDE_NO_SYNC : 0, stream_.handle()));
    for (int l = 0; l < layers; l++) visit(l, salt, false, no_sync);
    for (int l = layers - 1; l >= 0; l--) visit(l, salt, true, no_sync);
    TIDE_OK(MPIX_Tide_pipeline_finish(pipeline_, stream_.handle()));
    if (no_sync) return;
    for (size_t k = seen_.size() - layers; k < seen_.size(); k++)
      seen_[k].sums = buffer(seen_[k].layer).see_sums(stream_);
  }
  void expect_everything() {
    stream_.synchronize();
    for (const Seen& s : seen_) {
      SCOPED_TRACE("layer " + std::to_string(s.layer) + ", step " + std::to_string(s.salt));
      expect_gathered(list(s.layer), s.params->at.data(), s.salt, "in a slot");
      if (s.zeros) {
        const auto sizes = list(s.layer).grad_bytes();
        for (size_t p = 0; p < sizes.size(); p++) {
          const auto* bytes = static_cast<const char*>(s.zeros->at[p]);
          EXPECT_TRUE(std::all_of(bytes, bytes + sizes[p], [](char c) { return c == 0; }))
              << "gradient " << p;
        }
      }
      if (s.sums) expect_reduced(list(s.layer), s.sums->at.data(), s.options, "of a pipeline");
    }
    for (int l = 0; l < layers; l++) {
      int code = -1;
      TIDE_OK(MPIX_Tide_group_async_error(list(l).group(), &code));
      EXPECT_EQ(MPI_SUCCESS, code);
    }
    seen_.clear();
  }

  std::vector<std::unique_ptr<List>> lists_;
  std::vector<std::unique_ptr<Buffers>> buffers_;
  TestStream stream_;
  MPIX_Tide_pipeline pipeline_ = MPIX_TIDE_PIPELINE_NULL;
  std::vector<Seen> seen_;
};
INSTANTIATE_TEST_SUITE_P(
    Modes, StreamPipeline,
    testing::Values(Plan{MPIX_TIDE_IN_PLACE_MODE, 0}, Plan{MPIX_TIDE_IN_PLACE_MODE, 1},
                    Plan{MPIX_TIDE_SLOT_REUSE_MODE, 1}, Plan{MPIX_TIDE_SLOT_REUSE_MODE, 2}),
    [](const auto& info) {
      return std::string(info.param.mode == MPIX_TIDE_IN_PLACE_MODE ? "InPlace" : "SlotReuse") +
             std::to_string(info.param.prefetch);
    });

TEST_P(StreamPipeline, StepsWhileTheHostRunsAhead) {
  for (uint64_t step = 1; step <= 3; step++) micro_batch(step);
  expect_everything();
}

// Memory moves where gradients begin to accumulate; a stream that still reads the old one comes
// first.
TEST_P(StreamPipeline, MicroBatchesThatAccumulate) {
  micro_batch(1);
  micro_batch(2, true);
  micro_batch(3, true);
  micro_batch(4);
  expect_everything();
}

TEST_P(StreamPipeline, FreedBehindTheStream) {
  micro_batch(5);
  TIDE_OK(MPIX_Tide_pipeline_free(&pipeline_));
  expect_everything();
}

// The host's calls on device memory: they wait themselves.
TEST_P(StreamPipeline, HostsCallsOnDeviceMemory) {
  for (int l = 0; l < layers; l++) buffer(l).produce_shards(stream_, 8);
  stream_.synchronize();
  TIDE_OK(MPIX_Tide_pipeline_begin(pipeline_, 0, nullptr));
  std::vector<void*> at(list(0).count());
  for (int v = 0; v < 2 * layers; v++) {
    const int l = v < layers ? v : 2 * layers - 1 - v;
    TIDE_OK(MPIX_Tide_pipeline_gather(pipeline_, l, at.data(), nullptr));
    const auto* params = look(l, at.data(), list(l).full_bytes());
    stream_.synchronize();
    expect_gathered(list(l), params->at.data(), 8, "of a host's call");
    if (v >= layers) {
      TIDE_OK(MPIX_Tide_pipeline_grads(pipeline_, l, at.data(), nullptr));
      TIDE_OK(MPIX_Tide_pipeline_reduce(pipeline_, l, 0, MPIX_TIDE_SUM, 1.0, nullptr));
    }
    TIDE_OK(MPIX_Tide_pipeline_release(pipeline_, l, nullptr));
  }
  TIDE_OK(MPIX_Tide_pipeline_finish(pipeline_, nullptr));
}

TEST_P(StreamPipeline, CapturesAreRefused) {
  TestGraph graph;
  graph.begin(stream_);
  expect_failure(MPIX_Tide_pipeline_begin(pipeline_, 0, stream_.handle()), {unsupported},
                 {"captured"});
  graph.end(stream_);
}

TEST(StreamPipelines, HostMemoryIsRefused) {
  List list(world(), {param(9, 2)});
  Pieces shards(world(), Memory::tide, list.shard_bytes()),
      sums(world(), Memory::tide, list.out_bytes(0));
  const MPIX_Tide_group group = list.group();
  MPIX_Tide_schedule schedule{};
  schedule.nlayers = 1;
  schedule.groups = &group;
  schedule.reshard_after_forward = 1;
  MPIX_Tide_pipeline pipeline = MPIX_TIDE_PIPELINE_NULL;
  TIDE_OK(MPIX_Tide_pipeline_create(&schedule, MPI_INFO_NULL, &pipeline));
  TIDE_OK(MPIX_Tide_pipeline_bind(pipeline, 0, MPIX_TIDE_INPUTS(shards.list()), sums.list()));
  TestStream stream;
  expect_failure(MPIX_Tide_pipeline_begin(pipeline, 0, stream.handle()), {unsupported});
  TIDE_OK(MPIX_Tide_pipeline_free(&pipeline));
}

}  // namespace
}  // namespace tide_test
