// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Pipelines of C++: typed storage, moves, micro-batches; what they bring is compared.
#include <tide/tide.hpp>

#include "team.hpp"

namespace {

using namespace tide_test;

struct Model {
  std::vector<tide::Group> groups;
  std::vector<std::vector<float>> shards, sums;
  tide::Schedule schedule;

  explicit Model(int layers) {
    for (int l = 0; l < layers; ++l)
      groups.emplace_back(MPI_COMM_WORLD, std::initializer_list<tide::Param>{
                                              tide::param<float>(5, 3), tide::param<float>(0, 4)});
    for (const tide::Group& group : groups) {
      const std::size_t elems = group.extent(0, tide::What::shard).elems;
      shards.emplace_back(elems, static_cast<float>(10 * shards.size() + 1));
      sums.emplace_back(elems, -1.0F);
      schedule.layers.emplace_back(group);
    }
  }
  void bind(tide::Pipeline& pipeline) {
    for (std::size_t l = 0; l < groups.size(); ++l)
      pipeline.bind(static_cast<int>(l), {shards[l], nullptr}, {sums[l], nullptr});
  }
  // Every rank adds its number, once for each micro-batch.
  void run(tide::Pipeline& pipeline, bool no_sync = false) {
    const int layers = static_cast<int>(groups.size());
    no_sync ? pipeline.begin_no_sync() : pipeline.begin();
    for (int v = 0; v < 2 * layers; ++v) {
      const int l = v < layers ? v : 2 * layers - 1 - v;
      const std::span<const float> w = pipeline.gather(l).piece<float>(0);
      ASSERT_EQ(15U, w.size());
      for (float x : w) ASSERT_EQ(static_cast<float>(10 * l + 1), x);
      if (v >= layers) {
        const auto grads = pipeline.grads(l);
        for (float& g : grads.piece<float>(0)) g += static_cast<float>(world().rank + 1);
        EXPECT_EQ(0U, grads.piece<float>(1).size());
        pipeline.reduce(l, tide::Op::avg, 2);
      }
      pipeline.release(l);
    }
    pipeline.finish();
  }
  void expect(int micro_batches) const {
    const auto mean = static_cast<float>(world().size + 1) / 2;
    for (const auto& sum : sums)
      for (float x : sum) EXPECT_EQ(2 * mean * static_cast<float>(micro_batches), x);
  }
};

TEST(CxxPipeline, StepsInBothModes) {
  for (auto mode : {tide::PipelineMode::in_place, tide::PipelineMode::slot_reuse}) {
    Model m(4);
    m.schedule.mode = mode;
    tide::Pipeline made(m.schedule);
    m.bind(made);
    m.run(made);
    m.expect(1);
    tide::Pipeline pipeline = std::move(made);
    EXPECT_FALSE(made);
    EXPECT_EQ(mode == tide::PipelineMode::in_place ? 256 : 192,
              pipeline.sizes().param_bytes + pipeline.sizes().grad_bytes);
    m.run(pipeline, true);
    m.run(pipeline);
    m.expect(2);
  }
}

TEST(CxxPipeline, ForwardOnlyAndFrozen) {
  Model m(2);
  m.schedule.layer_flags = {0, tide::layer_frozen};
  m.schedule.backward.emplace();
  tide::Pipeline pipeline(m.schedule);
  pipeline.bind(0, {m.shards[0], nullptr}, {m.sums[0], nullptr});
  pipeline.bind(1, {m.shards[1], nullptr});
  pipeline.begin();
  for (int l : {0, 1}) {
    EXPECT_EQ(static_cast<float>(10 * l + 1), pipeline.gather(l).piece<float>(0)[14]);
    pipeline.release(l);
  }
  pipeline.finish();
}

// Told by the operations, on all ranks.
TEST(CxxPipeline, ResultsThatDoNotFit) {
  const bool last = world().rank == world().size - 1;
  Model m(2);
  tide::Pipeline few(m.schedule), wide(m.schedule);
  std::vector<float> short_sums(m.sums[0].size() - (last && !m.sums[0].empty() ? 1 : 0));
  few.bind(0, {m.shards[0], nullptr}, {short_sums, nullptr});
  few.bind(1, {m.shards[1], nullptr}, {m.sums[1], nullptr});
  m.bind(wide);
  const auto train = [&](tide::Pipeline& pipeline, tide::Dtype out) {
    pipeline.begin();
    for (int v = 0; v < 4; ++v) {
      const int l = v < 2 ? v : 3 - v;
      static_cast<void>(pipeline.gather(l));
      if (v >= 2) {
        static_cast<void>(pipeline.grads(l));
        pipeline.reduce(l, tide::Op::sum, 1, out);
      }
      pipeline.release(l);
    }
    pipeline.finish();
  };
  const auto expect_refused = [&](tide::Pipeline& pipeline, tide::Dtype out) {
    try {
      train(pipeline, out);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const tide::Error& e) {
      EXPECT_EQ(MPI_ERR_BUFFER, e.error_class()) << e.what();
    }
  };
  int any_rows = m.sums[0].empty() ? 0 : 1;
  MPI_Bcast(&any_rows, 1, MPI_INT, world().size - 1, MPI_COMM_WORLD);
  if (any_rows) expect_refused(few, tide::Dtype::own);
  expect_refused(wide, tide::Dtype::fp64);
}

TEST(CxxPipeline, WrongUseIsThrown) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  Model m(2);
  m.schedule.layer_flags = {0};
  EXPECT_THROW(tide::Pipeline{m.schedule}, tide::Error);  // on all ranks
  m.schedule.layer_flags = {0, 0, 0};
  try {
    tide::Pipeline refused(m.schedule);
    ADD_FAILURE() << "more flags than layers";
  } catch (const tide::Error& error) {
    EXPECT_EQ(MPI_ERR_ARG, error.error_class());
    EXPECT_NE(std::string::npos,
              std::string(error.what()).find("layer_flags has 3 elements but layers has 2"))
        << error.what();
  }
  m.schedule.layer_flags.clear();
  tide::Pipeline pipeline(m.schedule);
  EXPECT_THROW(pipeline.bind(0, {m.shards[0]}, {m.sums[0]}), tide::Error);
  std::vector<double> wide(m.shards[0].size());
  EXPECT_THROW(pipeline.bind(0, {wide, nullptr}, {m.sums[0], nullptr}), tide::Error);
  EXPECT_THROW(pipeline.finish(), tide::Error);
  m.bind(pipeline);
  try {
    pipeline.gather(0).size();
    ADD_FAILURE() << "gather before begin";
  } catch (const tide::Error& e) {
    EXPECT_EQ(MPI_ERR_REQUEST, e.error_class());
    EXPECT_NE(std::string::npos, std::string(e.what()).find("MPIX_Tide_pipeline_begin"));
  }
  m.run(pipeline);
  pipeline.begin();
  EXPECT_THROW((void)pipeline.gather(7), tide::Error);
  EXPECT_THROW((void)pipeline.gather(0).piece<double>(0), tide::Error);
  EXPECT_THROW((void)pipeline.gather(0).piece<float>(2), tide::Error);
  pipeline.release(0);
  EXPECT_EQ(11.0F, pipeline.gather(1).piece<float>(0)[0]);
  pipeline.release(1);
  pipeline.finish();
}

}  // namespace
