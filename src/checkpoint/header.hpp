// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The header of a safetensors file: 8 bytes (little end first) say how long it is, then comes a
// JSON object; the bytes of the tensors follow, without gaps.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tide {

struct TensorEntry {
  std::string name, dtype;  // "F32", as the format spells it
  std::vector<uint64_t> shape;
  uint64_t begin = 0, end = 0;  // bytes, counted from the end of the header
};

struct FileHeader {
  std::vector<TensorEntry> tensors;             // in the order of their bytes
  std::map<std::string, std::string> metadata;  // with Tide's own keys
};

constexpr uint64_t length_bytes = 8;
constexpr uint64_t most_header_bytes = 100'000'000;  // as the format's own library
constexpr const char* own_prefix = "tide.";
constexpr const char* own_header_key = "tide.crc32.header";
constexpr const char* own_tensor_key = "tide.crc32:";  // and the tensor's name

// Of a header with the JSON of `text`: what comes before it.
std::string length_of_header(uint64_t bytes);
// The length that the first 8 bytes of a file state.  Error{io} where the file cannot hold it.
uint64_t header_length(const unsigned char first[length_bytes], uint64_t file_bytes);
// Error{io} on anything that is not the format: bad JSON, names that come twice, gaps, overlaps,
// shapes that do not fit their bytes, bytes that no tensor has, a checksum of the header that is
// wrong.
FileHeader parse_header(const std::string& text, uint64_t data_bytes);
// Padded to a multiple of 8 bytes.  Its size does not depend on the digits of checksums. Error{arg}
// where a name or value is not UTF-8.
std::string format_header(const FileHeader& header);
std::string json_of(const std::map<std::string, std::string>& strings);
// Error{arg} where it is not a JSON object of strings.
std::map<std::string, std::string> strings_of(const std::string& json);
std::string hex(uint32_t crc);
uint64_t bytes_of_dtype(const std::string& dtype);  // of one element; 0: not a whole number, or
                                                    // not known

}  // namespace tide
