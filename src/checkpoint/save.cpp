// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Data first, header last, then the file takes its place: at any moment `path` is a whole
// checkpoint.
#include "checkpoint/checkpoint.hpp"
#include "checkpoint/crc32.hpp"
#include "checkpoint/file.hpp"
#include "checkpoint/new_file.hpp"
#include "core/memory.hpp"

namespace tide {
namespace {

// Each tensor's checksum, from the ranges of all ranks.
std::vector<uint32_t> combine(Context& context, const std::vector<TensorEntry>& tensors,
                              const std::vector<Range>& ranges, const std::vector<uint32_t>& bare) {
  std::vector<uint32_t> crc(tensors.size(), 0);
  for (size_t i = 0; i < ranges.size(); i++)
    crc[ranges[i].tensor] ^= append_zeros(bare[i], ranges[i].behind);
  context.reduce(crc.data(), sizeof crc[0], static_cast<int>(crc.size()), MPI_UINT32_T, MPI_BXOR);
  for (size_t t = 0; t < tensors.size(); t++)
    crc[t] = crc32_of_bare(crc[t], tensors[t].end - tensors[t].begin);
  return crc;
}

void set_checksums(FileHeader& header, const std::vector<uint32_t>& crc) {
  for (size_t t = 0; t < header.tensors.size(); t++)
    header.metadata[own_tensor_key + header.tensors[t].name] = hex(crc[t]);
}

}  // namespace

void save_checkpoint(MPI_Comm comm, const CheckpointArguments& a) {
  const auto context = Context::of(comm, default_limit_s());
  const Context::Setup setup(*context, default_limit_s(), SetupCall::save);
  const Content content(*context, a);
  FileHeader header;
  uint64_t data_at = 0, number = random_number();
  context->together([&] {
    header.tensors = content.tensors();
    if (!a.metadata.empty()) header.metadata = strings_of(a.metadata);
    set_checksums(header, std::vector<uint32_t>(header.tensors.size()));
    data_at = length_bytes + format_header(header).size();
    if (data_at - length_bytes > most_header_bytes)
      throw Error(Kind::arg,
                  "the header would have {} bytes, the format allows {}; save less in a "
                  "file",
                  data_at - length_bytes, most_header_bytes);
  });
  context->broadcast(&number, sizeof number, 0);
  const uint64_t bytes = data_at + content.bytes();
  const bool leads = context->comm_rank() == 0;
  NewFile made(a.path, number);
  context->together([&] {
    if (leads) made.create(bytes);
  });

  std::vector<uint64_t> begin;
  for (const TensorEntry& t : content.tensors()) begin.push_back(t.begin);
  std::vector<Range> ranges = content.ranges(begin);
  std::erase_if(ranges, [](const Range& r) { return !r.first_holder; });
  CollectiveFile file(*context, made.name(), true, a.info, data_at);
  const std::vector<uint32_t> bare = file.write(ranges);
  file.sync();
  // Open MPI 4.1 returns success from a collective write that a full disk cut short.
  const std::vector<uint32_t> seen = file.read(ranges, CollectiveFile::Read::look);
  context->together([&] {
    if (seen != bare)
      throw Error(Kind::io,
                  "{}: what was written does not read back; look for room on its file system, or "
                  "pass another path",
                  made.name());
  });
  file.close();
  set_checksums(header, combine(*context, content.tensors(), ranges, bare));
  context->together([&] {
    if (!leads) return;
    const std::string text = format_header(header);
    made.finish(length_of_header(text.size()) + text, bytes);
  });
}

}  // namespace tide
