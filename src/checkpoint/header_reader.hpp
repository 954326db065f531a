// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Takes a header from nlohmann's parser event by event: no tree of foreign JSON is built, and a
// name that comes twice is seen.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>

#include "checkpoint/header.hpp"

namespace tide {

class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(FileHeader& header) : header_(header) {}
  const std::string& why() const { return why_; }

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }  // negative
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool string(string_t& text) override;
  bool binary(binary_t&) override { return other(); }
  bool start_object(size_t) override;
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(size_t) override;
  bool end_array() override;
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) override;

 private:
  enum class In { nothing, file, metadata, tensor, shape, offsets, unknown };
  bool other();
  bool fail(const std::string& why);
  bool finish_tensor();

  FileHeader& header_;
  std::string why_ = "its header is not JSON";
  In in_ = In::nothing;
  int unknown_depth_ = 0;
  std::string key_;  // of the innermost object
  TensorEntry tensor_;
  std::vector<uint64_t> offsets_;
  bool has_dtype_ = false, has_shape_ = false, has_offsets_ = false, has_metadata_ = false;
  std::unordered_set<std::string> names_;
};

}  // namespace tide
