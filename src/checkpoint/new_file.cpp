// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/new_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "checkpoint/header.hpp"
#include "core/error.hpp"

namespace tide {
namespace {

[[noreturn]] void fail_at(const std::string& path, const char* call, int error) {
  throw Error(Kind::io, "{}: {} failed: {}", path, call, std::strerror(error));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int fd;
};

bool read_whole(int fd, char* to, size_t bytes, off_t at) {
  while (bytes) {
    const ssize_t n = pread(fd, to, bytes, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n, at += n, bytes -= static_cast<size_t>(n);
  }
  return true;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::string NewFile::beside(const std::string& path, uint64_t number) {
  return fmt::format("{}.tide-{:016x}", path, number);
}

void NewFile::fail(const char* call) const { fail_at(name_, call, errno); }

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (made_) ::unlink(name_.c_str());
}

void NewFile::create(uint64_t bytes) {
  struct stat there;
  if (lstat(path_.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISLNK(there.st_mode))
    throw Error(Kind::io, "{}: it is there and is no regular file; pass another path", path_);
  descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("open");
  made_ = true;
  if (fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0) return;
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
    throw Error(Kind::io, "{}: there is no room for {} bytes ({}); free some or pass another path",
                name_, bytes, std::strerror(errno));
  if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail("ftruncate");
}

void NewFile::finish(const std::string& first, uint64_t bytes) {
  struct stat now;
  if (fstat(descriptor_, &now) != 0) fail("fstat");
  if (static_cast<uint64_t>(now.st_size) != bytes)
    throw Error(Kind::io, "{}: it has {} bytes instead of {}; somebody else writes to it", name_,
                now.st_size, bytes);
  for (size_t done = 0; done < first.size();) {
    const ssize_t n =
        pwrite(descriptor_, first.data() + done, first.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write");
    done += static_cast<size_t>(n);
  }
  if (fsync(descriptor_) != 0) fail("fsync");
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("close");
  if (rename(name_.c_str(), path_.c_str()) != 0) fail("rename");
  made_ = false;
  const Descriptor folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.fd >= 0) fsync(folder.fd);  // some file systems cannot; the file is in place
}

OldFile read_header(const std::string& path) {
  // Not to wait where it is a pipe.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat there;
  if (file.fd < 0) fail_at(path, "open", errno);
  if (fstat(file.fd, &there) != 0) fail_at(path, "fstat", errno);
  if (!S_ISREG(there.st_mode))
    throw Error(Kind::io, "{}: it is no regular file; pass the path of a checkpoint", path);
  OldFile old;
  old.bytes = static_cast<uint64_t>(there.st_size);
  char first[length_bytes] = {};
  if (old.bytes < length_bytes || !read_whole(file.fd, first, sizeof first, 0))
    throw Error(Kind::io, "{}: not a safetensors file: it has {} bytes", path, old.bytes);
  old.header.resize(header_length(reinterpret_cast<const unsigned char*>(first), old.bytes));
  if (!read_whole(file.fd, old.header.data(), old.header.size(), length_bytes))
    fail_at(path, "read", errno);
  return old;
}

}  // namespace tide
