// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/header.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checkpoint/crc32.hpp"
#include "checkpoint/header_reader.hpp"
#include "core/error.hpp"

namespace tide {
namespace {

constexpr size_t hex_digits = 8;

std::string quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(Kind::arg, "a name or text of the checkpoint is not UTF-8: {}",
                nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  }
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Kind::io, "not a whole safetensors file: {}", why);
}

// Where the digits of the header's own checksum stand; npos: it has none.
size_t own_digits(const std::string& text) {
  const std::string key = fmt::format("\"{}\":\"", own_header_key);
  const size_t at = text.find(key);
  return at == std::string::npos || at + key.size() + hex_digits > text.size() ? std::string::npos
                                                                               : at + key.size();
}

uint32_t own_crc(std::string text, size_t digits) {
  text.replace(digits, hex_digits, hex_digits, '0');
  return crc32(text.data(), text.size());
}

void check_shape(const TensorEntry& t) {
  unsigned __int128 bytes = bytes_of_dtype(t.dtype);
  if (bytes == 0) return;
  const bool empty = std::count(t.shape.begin(), t.shape.end(), 0u) > 0;
  for (uint64_t n : t.shape) {
    bytes = empty ? 0 : bytes * n;
    if (bytes > UINT64_MAX) refuse(fmt::format("tensor {} is too large", t.name));
  }
  if (bytes != t.end - t.begin)
    refuse(fmt::format("tensor {} has {} bytes where its shape takes {}", t.name, t.end - t.begin,
                       static_cast<uint64_t>(bytes)));
}

void check_places(std::vector<TensorEntry>& tensors, uint64_t data_bytes) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  uint64_t at = 0;
  for (const TensorEntry& t : tensors) {
    if (t.begin != at || t.end < t.begin)
      refuse(fmt::format("tensor {} has bytes {} to {}, where {} would be next", t.name, t.begin,
                         t.end, at));
    at = t.end;
    check_shape(t);
  }
  if (at != data_bytes)
    refuse(fmt::format("its tensors have {} bytes, the file has {}", at, data_bytes));
}

}  // namespace

std::string hex(uint32_t crc) { return fmt::format("{:08x}", crc); }

uint64_t bytes_of_dtype(const std::string& dtype) {
  static const std::map<std::string, uint64_t> known = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"F8_E8M0", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},     {"U32", 4},
      {"F32", 4},  {"F64", 8}, {"I64", 8}, {"U64", 8},     {"C64", 8}};
  const auto at = known.find(dtype);
  return at == known.end() ? 0 : at->second;
}

std::string length_of_header(uint64_t bytes) {
  std::string text;
  for (uint64_t k = 0; k < length_bytes; k++) text += static_cast<char>(bytes >> 8 * k & 0xFF);
  return text;
}

uint64_t header_length(const unsigned char first[length_bytes], uint64_t file_bytes) {
  uint64_t bytes = 0;
  for (uint64_t k = 0; k < length_bytes; k++) bytes |= uint64_t{first[k]} << 8 * k;
  if (bytes == 0)
    refuse("its header is missing: a checkpoint that was not finished, or another kind of file");
  if (bytes > most_header_bytes)
    refuse(fmt::format("its header would have {} bytes, more than the {} that the format allows",
                       bytes, most_header_bytes));
  if (file_bytes < length_bytes || bytes > file_bytes - length_bytes)
    refuse(fmt::format("its header has {} bytes, but the file ends after {}", bytes, file_bytes));
  return bytes;
}

FileHeader parse_header(const std::string& text, uint64_t data_bytes) {
  if (text.empty() || text[0] != '{') refuse("its header does not begin with {");
  FileHeader header;
  HeaderReader reader(header);
  if (!nlohmann::json::sax_parse(text, &reader)) refuse(reader.why());
  const auto own = header.metadata.find(own_header_key);
  if (own != header.metadata.end()) {
    const size_t digits = own_digits(text);
    if (digits == std::string::npos || hex(own_crc(text, digits)) != own->second)
      refuse(fmt::format("its header has not the checksum {} that it states", own->second));
  }
  check_places(header.tensors, data_bytes);
  return header;
}

std::string json_of(const std::map<std::string, std::string>& strings) {
  std::string text = "{";
  for (const auto& [key, value] : strings)
    text += fmt::format("{}{}:{}", text.size() > 1 ? "," : "", quoted(key), quoted(value));
  text += '}';
  return text;
}

std::string format_header(const FileHeader& header) {
  FileHeader all = header;
  all.metadata[own_header_key] = std::string(hex_digits, '0');
  std::string text = "{\"__metadata__\":" + json_of(all.metadata);
  for (const TensorEntry& t : header.tensors)
    text += fmt::format(",{}:{{\"dtype\":{},\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                        quoted(t.name), quoted(t.dtype), fmt::join(t.shape, ","), t.begin, t.end);
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const size_t digits = own_digits(text);
  text.replace(digits, hex_digits, hex(own_crc(text, digits)));
  return text;
}

std::map<std::string, std::string> strings_of(const std::string& json) {
  std::map<std::string, std::string> result;
  const auto read = nlohmann::json::parse(json, nullptr, false);
  if (!read.is_object())
    throw Error(Kind::arg, "metadata is not a JSON object; pass {\"step\":\"100\"} or NULL");
  for (const auto& [key, value] : read.items()) {
    if (!value.is_string())
      throw Error(Kind::arg, "metadata: the value of \"{}\" is not a string; put it in quotes",
                  key);
    if (key.rfind(own_prefix, 0) == 0)
      throw Error(Kind::arg,
                  "metadata: \"{}\" begins with \"{}\", as Tide's own keys do; rename it", key,
                  own_prefix);
    result[key] = value;
  }
  return result;
}

}  // namespace tide
