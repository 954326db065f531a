// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A checkpoint as a file of any bytes: what is accepted is whole, and written again it reads the
// same.
#include <set>

#include "checkpoint/header.hpp"
#include "core/error.hpp"
#include "input.hpp"

using fuzz::require;
using tide::FileHeader;

namespace {

void check(const FileHeader& header, uint64_t data_bytes) {
  uint64_t at = 0;
  std::set<std::string> names;
  for (const auto& t : header.tensors) {
    require(t.begin == at && t.end >= t.begin, "no gap, no overlap");
    require(names.insert(t.name).second, "names come once");
    unsigned __int128 bytes = tide::bytes_of_dtype(t.dtype);
    const bool known = bytes != 0;
    for (uint64_t n : t.shape)
      if (n == 0) bytes = 0;
    for (uint64_t n : t.shape) bytes *= bytes ? n : 1;
    require(!known || bytes == t.end - t.begin, "shape and bytes agree");
    at = t.end;
  }
  require(at == data_bytes, "every byte belongs to a tensor");
}

void check_again(const FileHeader& header, uint64_t data_bytes) {
  const std::string text = tide::format_header(header);
  require(text.size() % 8 == 0, "padded");
  const FileHeader again = tide::parse_header(text, data_bytes);
  require(again.tensors.size() == header.tensors.size(), "as many tensors");
  for (size_t t = 0; t < again.tensors.size(); t++)
    require(again.tensors[t].name == header.tensors[t].name &&
                again.tensors[t].shape == header.tensors[t].shape &&
                again.tensors[t].end == header.tensors[t].end,
            "the same tensors");
  for (const auto& [key, value] : header.metadata)
    require(key == tide::own_header_key || again.metadata.at(key) == value, "the same metadata");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes < tide::length_bytes) return 0;
  const std::string rest(data + tide::length_bytes, data + bytes);
  try {
    const uint64_t length = tide::header_length(data, bytes);
    require(length <= rest.size(), "a header inside the file");
    const FileHeader header = tide::parse_header(rest.substr(0, length), rest.size() - length);
    check(header, rest.size() - length);
    check_again(header, rest.size() - length);
  } catch (const tide::Error& e) {
    require(e.kind() == tide::Kind::io, "the kind of error");
    require(std::string(e.what()).find("safetensors") != std::string::npos, "a message");
  }
  try {
    for (const auto& [key, value] : tide::strings_of(rest))
      require(key.rfind(tide::own_prefix, 0) != 0, "Tide's own keys are refused");
  } catch (const tide::Error& e) {
    require(e.kind() == tide::Kind::arg, "the kind of error");
  }
  return 0;
}
