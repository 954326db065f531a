// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/file.hpp"

#include <algorithm>
#include <cstring>

#include "checkpoint/crc32.hpp"

namespace tide {
namespace {

constexpr uint64_t round_bytes = uint64_t{16} << 20;  // of a rank; MPI counts are int

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::string line(text, static_cast<size_t>(length));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

CollectiveFile::CollectiveFile(Context& context, const std::string& path, bool write, MPI_Info info,
                               uint64_t data_at)
    : context_(context), path_(path), data_at_(data_at) {
  const int mode = write ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
  agree(MPI_File_open(context.duplicate(), path.c_str(), mode, info, &file_), "MPI_File_open");
}

CollectiveFile::~CollectiveFile() {
  if (file_ != MPI_FILE_NULL && !context_.broken()) MPI_File_close(&file_);
}

void CollectiveFile::agree(int code, const char* call) {
  context_.together([&] {
    if (code != MPI_SUCCESS) throw Error(Kind::io, "{}: {} failed: {}", path_, call, text_of(code));
  });
}

// This rank's next slices, which do not overlap and come in the order of the file.
int CollectiveFile::view(const std::vector<Range>& ranges, const std::vector<Slice>& slices) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (const Slice& s : slices) {
    const uint64_t at = ranges[s.range].at + s.from;
    const bool joins =
        !places.empty() && static_cast<uint64_t>(places.back()) + lengths.back() == at;
    if (joins)
      lengths.back() += static_cast<int>(s.bytes);
    else
      lengths.push_back(static_cast<int>(s.bytes)), places.push_back(static_cast<MPI_Aint>(at));
  }
  MPI_Datatype type = MPI_BYTE;
  if (!places.empty()) {
    MPI_Type_create_hindexed(static_cast<int>(places.size()), lengths.data(), places.data(),
                             MPI_BYTE, &type);
    MPI_Type_commit(&type);
  }
  const int code = MPI_File_set_view(file_, static_cast<MPI_Offset>(data_at_), MPI_BYTE, type,
                                     "native", MPI_INFO_NULL);
  if (type != MPI_BYTE) MPI_Type_free(&type);
  return code;
}

// move(slices, bytes of all) for this rank's next part; every rank makes as many rounds.
template <class Move>
void CollectiveFile::in_rounds(const std::vector<Range>& ranges, Move move) {
  uint64_t total = 0;
  for (const Range& r : ranges) total += r.bytes;
  int64_t rounds = -static_cast<int64_t>((total + round_bytes - 1) / round_bytes);
  context_.least(&rounds, 1);
  Slice next;
  for (; rounds < 0; rounds++) {
    std::vector<Slice> slices;
    uint64_t bytes = 0;
    while (next.range < ranges.size() && bytes < round_bytes) {
      Slice s = next;
      s.bytes = std::min(round_bytes - bytes, ranges[s.range].bytes - s.from);
      slices.push_back(s);
      bytes += s.bytes;
      next.from += s.bytes;
      if (next.from == ranges[next.range].bytes) next = {next.range + 1, 0, 0};
    }
    move(slices, bytes);
  }
}

std::vector<uint32_t> CollectiveFile::write(const std::vector<Range>& ranges) {
  std::vector<uint32_t> crc(ranges.size(), 0);
  std::vector<char> buffer;
  int first = MPI_SUCCESS;  // all rounds are made: the others are in them
  const auto note = [&](int code) { first = first == MPI_SUCCESS ? code : first; };
  in_rounds(ranges, [&](const std::vector<Slice>& slices, uint64_t bytes) {
    buffer.resize(bytes);
    size_t at = 0;
    for (const Slice& s : slices) {
      std::memcpy(buffer.data() + at, ranges[s.range].memory + s.from, s.bytes);
      // Of what is written, should the memory change meanwhile.
      crc[s.range] = bare_crc32(crc[s.range], buffer.data() + at, s.bytes);
      at += s.bytes;
    }
    note(view(ranges, slices));
    note(MPI_File_write_all(file_, buffer.data(), static_cast<int>(bytes), MPI_BYTE,
                            MPI_STATUS_IGNORE));
  });
  agree(first, "MPI_File_write_all");
  return crc;
}

std::vector<uint32_t> CollectiveFile::read(const std::vector<Range>& ranges, Read what) {
  std::vector<uint32_t> crc(ranges.size(), 0);
  std::vector<char> buffer;
  int first = MPI_SUCCESS;
  bool cut = false;
  const auto note = [&](int code) { first = first == MPI_SUCCESS ? code : first; };
  in_rounds(ranges, [&](const std::vector<Slice>& slices, uint64_t bytes) {
    buffer.resize(bytes);
    note(view(ranges, slices));
    MPI_Status status;
    const int code =
        MPI_File_read_all(file_, buffer.data(), static_cast<int>(bytes), MPI_BYTE, &status);
    note(code);
    int count = 0;
    if (code == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &count);
    cut |= code == MPI_SUCCESS && static_cast<uint64_t>(count) != bytes;
    if (first != MPI_SUCCESS || cut) return;
    size_t at = 0;
    for (const Slice& s : slices) {
      crc[s.range] = bare_crc32(crc[s.range], buffer.data() + at, s.bytes);
      if (what == Read::keep)
        std::memcpy(ranges[s.range].memory + s.from, buffer.data() + at, s.bytes);
      at += s.bytes;
    }
  });
  agree(first, "MPI_File_read_all");
  context_.together([&] {
    if (cut) throw Error(Kind::io, "{}: it became shorter while it was read", path_);
  });
  return crc;
}

void CollectiveFile::sync() { agree(MPI_File_sync(file_), "MPI_File_sync"); }

void CollectiveFile::close() { agree(MPI_File_close(&file_), "MPI_File_close"); }

}  // namespace tide
