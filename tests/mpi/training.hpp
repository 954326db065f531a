// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A model whose training step goes through a pipeline, and beside it through the plain calls: what
// the program is given, and what comes out, must be equal bit by bit.
#pragma once
#include <memory>
#include <random>
#include <vector>

#include "list.hpp"

namespace tide_test {

struct Plan {  // of a schedule
  int layers = 4;
  std::vector<int> flags, forward, backward;
  bool no_backward = false;  // an empty list
  bool even = false;         // layers of one shape: their slots rotate
  int mode = MPIX_TIDE_IN_PLACE_MODE, prefetch = 1, reshard = 1;
};

struct Reduction {
  int out_dtype = 0, op = MPIX_TIDE_SUM;
  double scale = 1;
};

std::vector<MPIX_Tide_param> layer_list(int layer);  // mixed types, uneven, one of them larger

class Training {
 public:
  // Collective.
  Training(const Team& team, const Plan& plan, MPI_Info pipeline_info = MPI_INFO_NULL,
           MPI_Info group_info = MPI_INFO_NULL);
  ~Training();
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  // A whole micro-batch, every value compared; then the results.
  void micro_batch(bool no_sync = false, const Reduction& reduction = {});
  void evaluation();  // forward visits only

  // The parts.
  void new_shards();  // and what plain calls make of them
  int begin(bool no_sync = false);
  void visit(int v, const Reduction& reduction);
  void expect_results(const Reduction& reduction);
  int visits() const { return static_cast<int>(visits_.size()); }
  int forward_visits() const { return forward_; }
  int layer(int v) const { return visits_[static_cast<size_t>(v)]; }

  MPIX_Tide_pipeline pipeline = MPIX_TIDE_PIPELINE_NULL;
  std::vector<std::unique_ptr<List>> lists;

 private:
  struct Layer {
    std::unique_ptr<Pieces> shards, sums, params, grads, expected;
    bool frozen = false;
  };
  void check_params(int v, void* const params[], const char* when) const;
  void check_grads(int v, void* const grads[], const char* when) const;
  void add_grads(int v, void* const grads[]);
  void compute();  // takes a random time
  const Team& team_;
  std::vector<Layer> layers_;
  std::vector<int> visits_;
  int forward_ = 0;
  uint64_t step_ = 0;
  std::mt19937 random_;
};

}  // namespace tide_test
