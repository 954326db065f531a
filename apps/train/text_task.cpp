// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "text_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numbers>

#include "failure.hpp"
#include "random.hpp"

namespace train {

Text read_text(MPI_Comm comm, const std::string& path) {
  Text text{path, {}};
  on_first_rank(comm, [&] {
    std::ifstream file(path, std::ios::binary);
    text.bytes.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.good() && !file.eof())
      throw std::runtime_error(
          fmt::format("cannot read '{}': {}; check --text", path, std::strerror(errno)));
    if (text.bytes.size() > (size_t(1) << 30))
      throw std::runtime_error(fmt::format("'{}' has more than 1 GiB; check --text", path));
  });
  int64_t length = int64_t(text.bytes.size());
  MPI_Bcast(&length, 1, MPI_INT64_T, 0, comm);
  text.bytes.resize(length);
  MPI_Bcast(text.bytes.data(), int(length), MPI_BYTE, 0, comm);
  return text;
}

Text field_tracks(const Samples& samples, const std::string& name) {
  const Grid& grid = samples.grid();
  Text text{fmt::format("{}: {} along latitudes", name, grid.fields[0].name), {}};
  for (int64_t cell = 0; cell < grid.cells(); ++cell) {
    const float value = grid.values[cell * samples.outputs()];
    text.bytes.push_back(
        std::isnan(value) ? 255 : uint8_t(std::clamp(127 + std::lround(32 * value), 0l, 254l)));
  }
  return text;
}

TextTask::TextTask(const Text& text, const Options& o, int ranks)
    : text_(text),
      shape_{256, o.context, o.width, o.heads, o.depth},
      architecture_(transformer(shape_)),
      transformer_(shape_, (o.batch + ranks - 1) / ranks) {
  split(o.holdout);
  batch_.resize(size_t(max_items() * (o.context + 1)));
}

void TextTask::split(double holdout) {
  const int64_t length = shape_.context + 1;
  for (uint8_t byte : text_.bytes) fingerprint_ = mix(fingerprint_ + byte + 1);
  for (int64_t item = 0; (item + 1) * length <= int64_t(text_.bytes.size()); ++item) {
    const bool held_out = unit_interval(mix(uint64_t(item + 1) * 0x9e3779b97f4a7c15ull)) < holdout;
    (held_out ? validation_ : training_).push_back(item);
  }
  if (training_.empty() || validation_.empty())
    throw AgreedError(fmt::format(
        "{}: {} bytes are too few sequences of {}: training or validation is empty (see --context "
        "and --holdout)",
        text_.name, text_.bytes.size(), length));
  fingerprint_ = mix(fingerprint_ + training_.size());
}

nlohmann::json TextTask::identity() const {
  return {{"--heads", shape_.heads}, {"text and --holdout (fingerprint)", fingerprint_}};
}

std::string TextTask::describe() const {
  return fmt::format("{}: {} training and {} validation sequences of {} bytes", text_.name,
                     training_.size(), validation_.size(), shape_.context + 1);
}

void TextTask::assemble(const int64_t* items, int64_t n) {
  const int64_t length = shape_.context + 1;
  for (int64_t i = 0; i < n; ++i)
    std::copy_n(&text_.bytes[items[i] * length], length, &batch_[i * length]);
}

void TextTask::gradient(Weights& weights, const int64_t* items, int64_t n, int64_t batch, int ranks,
                        Loss& loss) {
  assemble(items, n);
  const Loss own = transformer_.forward(weights, batch_.data(), n);
  loss.sum += own.sum;
  loss.count += own.count;
  const double scale = double(ranks) / double(batch * shape_.context);
  transformer_.backward(weights, batch_.data(), n, float(scale));
}

void TextTask::evaluate(Weights& weights, const int64_t* items, int64_t n, Loss* losses) {
  assemble(items, n);
  const Loss own = transformer_.forward(weights, batch_.data(), n);
  weights.finish(false);
  losses->sum += own.sum;
  losses->count += own.count;
}

std::vector<double> TextTask::measure(const Loss* losses) const {
  return {losses->sum / losses->count / std::numbers::ln2};
}

}  // namespace train
