// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/header_reader.hpp"

#include <fmt/format.h>

namespace tide {

constexpr size_t most_dimensions = 64;

bool HeaderReader::fail(const std::string& why) {
  why_ = why;
  return false;
}

bool HeaderReader::parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) {
  return fail(fmt::format("its header is not JSON (byte {})", at));
}

// A value of a kind that stands nowhere in a header, but inside a key that we do not know.
bool HeaderReader::other() {
  if (in_ == In::unknown) {
    if (unknown_depth_ == 0) in_ = In::tensor;
    return true;
  }
  return fail(fmt::format("tensor {}: \"{}\" has a value of another kind", tensor_.name, key_));
}

bool HeaderReader::number_unsigned(number_unsigned_t value) {
  if (in_ == In::shape) {
    if (tensor_.shape.size() == most_dimensions)
      return fail(fmt::format("tensor {} has too many dimensions", tensor_.name));
    tensor_.shape.push_back(value);
    return true;
  }
  if (in_ == In::offsets && offsets_.size() < 2) return offsets_.push_back(value), true;
  return other();
}

bool HeaderReader::string(string_t& text) {
  if (in_ == In::metadata) return header_.metadata[key_] = text, true;
  if (in_ == In::tensor && key_ == "dtype") {
    tensor_.dtype = text;
    return has_dtype_ = true;
  }
  return other();
}

bool HeaderReader::start_object(size_t) {
  if (in_ == In::nothing && names_.empty() && !has_metadata_) return in_ = In::file, true;
  if (in_ == In::unknown) return ++unknown_depth_, true;
  if (in_ != In::file) return other();
  if (key_ == "__metadata__") {
    if (std::exchange(has_metadata_, true)) return fail("__metadata__ comes twice in its header");
    return in_ = In::metadata, true;
  }
  if (!names_.insert(key_).second)
    return fail(fmt::format("tensor {} comes twice in its header", key_));
  tensor_ = {};
  tensor_.name = key_;
  offsets_.clear();
  has_dtype_ = has_shape_ = has_offsets_ = false;
  return in_ = In::tensor, true;
}

bool HeaderReader::key(string_t& name) {
  if (in_ == In::unknown) return true;
  key_ = name;
  if (in_ == In::metadata && header_.metadata.count(name))
    return fail(fmt::format("__metadata__: \"{}\" comes twice", name));
  if (in_ != In::tensor) return true;
  const bool twice = (name == "dtype" && has_dtype_) || (name == "shape" && has_shape_) ||
                     (name == "data_offsets" && has_offsets_);
  if (twice) return fail(fmt::format("tensor {}: \"{}\" comes twice", tensor_.name, name));
  if (name != "dtype" && name != "shape" && name != "data_offsets") in_ = In::unknown;
  return true;
}

bool HeaderReader::end_object() {
  if (in_ == In::unknown && unknown_depth_ > 0) {
    if (--unknown_depth_ == 0) in_ = In::tensor;
    return true;
  }
  if (in_ == In::metadata) return in_ = In::file, true;
  if (in_ == In::tensor) return finish_tensor();
  return in_ = In::nothing, true;
}

bool HeaderReader::finish_tensor() {
  if (!has_dtype_ || !has_shape_ || offsets_.size() != 2)
    return fail(fmt::format("tensor {} lacks dtype, shape or two data_offsets", tensor_.name));
  tensor_.begin = offsets_[0];
  tensor_.end = offsets_[1];
  header_.tensors.push_back(std::move(tensor_));
  return in_ = In::file, true;
}

bool HeaderReader::start_array(size_t) {
  if (in_ == In::unknown) return ++unknown_depth_, true;
  if (in_ == In::tensor && key_ == "shape") return in_ = In::shape, has_shape_ = true;
  if (in_ == In::tensor && key_ == "data_offsets") return in_ = In::offsets, has_offsets_ = true;
  return other();
}

bool HeaderReader::end_array() {
  if (in_ == In::unknown) {
    if (--unknown_depth_ == 0) in_ = In::tensor;
    return true;
  }
  return in_ = In::tensor, true;
}

}  // namespace tide
