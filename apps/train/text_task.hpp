// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Sequences of bytes, whose next one a transformer tells: of a text, or a field along tracks.
#pragma once
#include <string>

#include "samples.hpp"
#include "task.hpp"
#include "transformer.hpp"

namespace train {

struct Text {
  std::string name;
  std::vector<uint8_t> bytes;
};

/// Collective: rank 0 reads.
Text read_text(MPI_Comm comm, const std::string& path);
/// The first field along the circles of latitude, in steps of a 32nd of its deviation; 255 where
/// nothing was observed.  Local.
Text field_tracks(const Samples& samples, const std::string& name);

class TextTask : public Task {
 public:
  TextTask(const Text& text, const Options& options, int ranks);
  const Architecture& architecture() const override { return architecture_; }
  const std::vector<int64_t>& training() const override { return training_; }
  const std::vector<int64_t>& validation() const override { return validation_; }
  const std::vector<Measure>& measures() const override { return measures_; }
  nlohmann::json identity() const override;
  std::string describe() const override;
  int64_t max_items() const override { return transformer_.max_sequences(); }
  int64_t bytes() const override { return transformer_.bytes() + int64_t(batch_.size()); }
  void gradient(Weights& weights, const int64_t* items, int64_t n, int64_t batch, int ranks,
                Loss& loss) override;
  void evaluate(Weights& weights, const int64_t* items, int64_t n, Loss* losses) override;
  int parts() const override { return 1; }
  std::vector<double> measure(const Loss* losses) const override;

 private:
  void split(double holdout);
  void assemble(const int64_t* items, int64_t n);
  const Text& text_;
  TransformerShape shape_;
  Architecture architecture_;
  Transformer transformer_;
  uint64_t fingerprint_ = 0;
  std::vector<Measure> measures_ = {{"bits", "bits per token", 0}};
  std::vector<int64_t> training_, validation_;  // sequences of context + 1 bytes
  std::vector<uint8_t> batch_;
};

}  // namespace train
