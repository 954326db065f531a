// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a checkpoint's tensors, by MPI-IO: every rank's ranges in rounds of a bounded size,
// through a buffer.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "checkpoint/content.hpp"

namespace tide {

class CollectiveFile {
 public:
  // Collective, as everything here; Error{io} on all ranks.  data_at: byte of the file where the
  // header ends.
  CollectiveFile(Context& context, const std::string& path, bool write, MPI_Info info,
                 uint64_t data_at);
  ~CollectiveFile();
  CollectiveFile(const CollectiveFile&) = delete;
  CollectiveFile& operator=(const CollectiveFile&) = delete;

  // What to do with what is read.
  enum class Read { look, keep };
  // The bare CRC-32 of each range.
  std::vector<uint32_t> write(const std::vector<Range>& ranges);
  std::vector<uint32_t> read(const std::vector<Range>& ranges, Read what);
  void sync();
  void close();

 private:
  struct Slice {
    size_t range = 0;
    uint64_t from = 0, bytes = 0;  // inside the range
  };
  template <class Move>
  void in_rounds(const std::vector<Range>& ranges, Move move);
  int view(const std::vector<Range>& ranges, const std::vector<Slice>& slices);
  void agree(int code, const char* call);

  Context& context_;
  std::string path_;
  uint64_t data_at_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace tide
