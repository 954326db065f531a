// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A file is checked in full, checksums too, before a byte of it gets into the shards.
#include <unordered_map>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/crc32.hpp"
#include "checkpoint/file.hpp"
#include "checkpoint/new_file.hpp"

namespace tide {
namespace {

// The header as rank 0 read it, on all ranks.
FileHeader header_everywhere(Context& context, const std::string& path, uint64_t& data_at) {
  OldFile old;
  context.together([&] {
    if (context.comm_rank() != 0) return;
    try {
      old = read_header(path);
    } catch (const Error& e) {
      const bool named = std::string(e.what()).rfind(path, 0) == 0;
      throw named ? e : Error(e.kind(), "{}: {}", path, e.what());
    }
  });
  uint64_t sizes[2] = {old.bytes, old.header.size()};
  context.broadcast(sizes, sizeof sizes, 0);
  context.together([&] { old.header.resize(sizes[1]); });
  context.broadcast(old.header.data(), sizes[1], 0);
  data_at = length_bytes + sizes[1];
  FileHeader header;
  context.together([&] {
    try {
      header = parse_header(old.header, sizes[0] - data_at);
    } catch (const Error& e) {
      throw Error(e.kind(), "{}: {}", path, e.what());
    }
  });
  return header;
}

bool same_elements(const TensorEntry& have, const TensorEntry& want) {
  const uint64_t rows = want.shape[0], row_elems = want.shape.size() > 1 ? want.shape[1] : 1;
  if (have.shape.empty()) return rows == 1 && row_elems == 1;
  unsigned __int128 rest = 1;
  for (size_t d = 1; d < have.shape.size() && rest <= UINT64_MAX; d++) rest *= have.shape[d];
  return have.shape[0] == rows && (rest == row_elems || rows == 0);
}

// Where each tensor begins in the file.
std::vector<uint64_t> find_tensors(const std::string& path, const FileHeader& header,
                                   const std::vector<TensorEntry>& wanted) {
  std::unordered_map<std::string, const TensorEntry*> by_name;
  for (const TensorEntry& t : header.tensors) by_name[t.name] = &t;
  std::vector<uint64_t> begin;
  for (const TensorEntry& want : wanted) {
    const auto at = by_name.find(want.name);
    if (at == by_name.end())
      throw Error(Kind::io, "{}: it has no tensor {}; load what the file has, or another file",
                  path, want.name);
    const TensorEntry& have = *at->second;
    if (have.dtype != want.dtype || !same_elements(have, want))
      throw Error(Kind::io,
                  "{}: tensor {} is {} of shape [{}], the parameter is {} of shape [{}]; load it "
                  "into a parameter of its type and shape",
                  path, want.name, have.dtype, fmt::join(have.shape, ", "), want.dtype,
                  fmt::join(want.shape, ", "));
    begin.push_back(have.begin);
  }
  return begin;
}

// The same on all ranks, which know the same sums.
void check_sums(Context& context, const std::string& path, const FileHeader& header,
                const Content& content, const std::vector<Range>& ranges,
                const std::vector<uint32_t>& bare) {
  std::vector<uint32_t> crc(content.tensors().size(), 0);
  for (size_t i = 0; i < ranges.size(); i++)
    if (ranges[i].first_holder) crc[ranges[i].tensor] ^= append_zeros(bare[i], ranges[i].behind);
  context.reduce(crc.data(), sizeof crc[0], static_cast<int>(crc.size()), MPI_UINT32_T, MPI_BXOR);
  for (size_t t = 0; t < crc.size(); t++) {
    const TensorEntry& tensor = content.tensors()[t];
    const auto stated = header.metadata.find(own_tensor_key + tensor.name);
    const std::string seen = hex(crc32_of_bare(crc[t], tensor.end - tensor.begin));
    if (stated != header.metadata.end() && stated->second != seen)
      throw Error(Kind::io,
                  "{}: tensor {} has the checksum {} instead of {}: its bytes are damaged; use "
                  "another checkpoint",
                  path, tensor.name, seen, stated->second);
  }
}

}  // namespace

std::string load_checkpoint(MPI_Comm comm, const CheckpointArguments& a) {
  const auto context = Context::of(comm, default_limit_s());
  const Context::Setup setup(*context, default_limit_s(), SetupCall::load);
  const Content content(*context, a);
  uint64_t data_at = 0;
  const FileHeader header = header_everywhere(*context, a.path, data_at);
  std::vector<Range> ranges;
  context->together(
      [&] { ranges = content.ranges(find_tensors(a.path, header, content.tensors())); });
  CollectiveFile file(*context, a.path, false, a.info, data_at);
  const std::vector<uint32_t> bare = file.read(ranges, CollectiveFile::Read::look);
  check_sums(*context, a.path, header, content, ranges, bare);
  const std::vector<uint32_t> again = file.read(ranges, CollectiveFile::Read::keep);
  context->together([&] {
    if (again != bare)
      throw Error(Kind::io, "{}: it changed while it was read; load it again", a.path);
  });
  file.close();
  std::map<std::string, std::string> metadata = header.metadata;
  std::erase_if(metadata, [](const auto& m) { return m.first.rfind(own_prefix, 0) == 0; });
  return json_of(metadata);
}

}  // namespace tide
