// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What one rank does with a checkpoint's file by itself.  Error{io}, with the path.
#pragma once
#include <cstdint>
#include <string>

namespace tide {

// A file beside `path`, which takes its place when it is finished, and goes where it is not.
class NewFile {
 public:
  NewFile(const std::string& path, uint64_t number) : path_(path), name_(beside(path, number)) {}
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  static std::string beside(const std::string& path, uint64_t number);
  const std::string& name() const { return name_; }

  void create(uint64_t bytes);  // takes the room for all of them now, where the file system can
  // Writes what comes first, last: then the file is whole; makes it durable, and puts it in place.
  void finish(const std::string& first, uint64_t bytes);

 private:
  [[noreturn]] void fail(const char* call) const;
  std::string path_, name_;
  int descriptor_ = -1;
  bool made_ = false;
};

struct OldFile {
  uint64_t bytes = 0;
  std::string header;  // the JSON text
};
OldFile read_header(const std::string& path);

}  // namespace tide
