// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "core/error.hpp"
#include "core/memory.hpp"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace tide {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr size_t kPieceBytes = size_t{64} << 20;

int memfd() {
  // Some sites forbid executable memfds (vm.memfd_noexec = 2); kernels before 6.3 lack the flag.
  int fd = memfd_create("tide", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (fd < 0 && errno == EINVAL) fd = memfd_create("tide", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return fd;
}

int unlinked_file() {
  int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
  const std::string name = fmt::format("/dev/shm/tide.{:016x}", random_number());
  fd = open(name.c_str(), O_CREAT | O_RDWR | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) unlink(name.c_str());
  return fd;
}

[[noreturn]] void no_room(size_t bytes, const std::string& what) {
  throw Error(Kind::no_mem, "shared memory of {} bytes: {}", bytes, what);
}

// The kernel lends a memfd more than the machine has and kills us at the touch: look first.
size_t free_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  size_t sum_kib = 0, kib = 0;
  bool known = false;
  for (std::string line; std::getline(file, line);) {
    if (sscanf(line.c_str(), "MemAvailable: %zu", &kib) == 1) sum_kib += kib, known = true;
    if (sscanf(line.c_str(), "SwapFree: %zu", &kib) == 1) sum_kib += kib;
  }
  return known ? sum_kib * 1024 : SIZE_MAX;
}

// The smallest memory limit of the control groups (v2) that hold this process.
size_t cgroup_limit_bytes() {
  std::ifstream groups("/proc/self/cgroup");
  size_t least = SIZE_MAX;
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::/", 0) != 0) continue;
    for (std::string path = line.substr(3); !path.empty(); path.resize(path.rfind('/'))) {
      std::ifstream file("/sys/fs/cgroup" + path + "/memory.max");
      size_t limit = 0;
      if (file >> limit) least = std::min(least, limit);  // "max" is not a number: no limit
    }
  }
  return least;
}

}  // namespace

size_t page_bytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

size_t segment_file_bytes(size_t user_bytes) {
  const size_t page = page_bytes();
  // off_t is signed
  if (user_bytes > static_cast<size_t>(INT64_MAX) - 2 * page)
    no_room(user_bytes, "more than a file can hold");
  return page + std::max(page, (user_bytes + page - 1) / page * page);
}

bool memfd_absent() {
  static const bool absent = [] {
    const int fd = memfd();
    if (fd < 0) return errno == ENOSYS;
    close(fd);
    return false;
  }();
  return absent;
}

int open_nameless(bool without_memfd) {
  const int fd = without_memfd ? unlinked_file() : memfd();
  if (fd < 0)
    throw Error(Kind::no_mem, "shared memory: {} failed: {}{}",
                without_memfd ? "open in /dev/shm" : "memfd_create", strerror(errno),
                errno == EMFILE ? "; raise RLIMIT_NOFILE (ulimit -n)" : "");
  fchmod(fd, 0600);  // a memfd is born 0666 or 0777, reachable through /proc by its owner only
  return fd;
}

void check_room(size_t bytes) {
  rlimit limit{};
  // Beyond it the kernel sends SIGXFSZ, whose default ends the process.
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      bytes > limit.rlim_cur)
    no_room(bytes, fmt::format("RLIMIT_FSIZE allows {}; raise it (ulimit -f)", limit.rlim_cur));
  if (const size_t most = cgroup_limit_bytes(); bytes > most)
    no_room(bytes, fmt::format("the control group's memory.max is {}; ask for more", most));
  if (const size_t most = free_memory_bytes(); bytes > most)
    no_room(bytes, fmt::format("/proc/meminfo says {} are available; use more nodes", most));
}

void allocate_file(int fd, size_t bytes) {
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) no_room(bytes, strerror(errno));
  for (size_t done = 0; done < bytes;) {
    const size_t piece = std::min(kPieceBytes, bytes - done);
    const int code = posix_fallocate(fd, static_cast<off_t>(done), static_cast<off_t>(piece));
    if (code == EINTR) continue;
    if (code != 0)
      no_room(bytes, fmt::format("posix_fallocate at byte {}: {}; free memory (or /dev/shm)", done,
                                 strerror(code)));
    done += piece;
  }
}

void seal_file(int fd) {
  if (memfd_absent()) return;
  if (fcntl(fd, F_ADD_SEALS, kSeals | F_SEAL_SEAL) != 0)
    throw Error(Kind::intern, "shared memory: sealing the size failed: {}", strerror(errno));
}

void check_file(int fd, size_t bytes, bool sealed) {
  struct stat info {};
  if (fstat(fd, &info) != 0) throw Error(Kind::peer, "a peer's memory: fstat: {}", strerror(errno));
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || info.st_nlink != 0)
    throw Error(Kind::peer, "a peer's memory is not a nameless file of user {}", geteuid());
  if (static_cast<size_t>(info.st_size) != bytes)
    throw Error(Kind::peer, "a peer's memory has {} bytes, announced as {}", info.st_size, bytes);
  // A file that can shrink under us is SIGBUS at the sender's will.
  const int seals = fcntl(fd, F_GET_SEALS);
  if (sealed && (seals < 0 || (seals & kSeals) != kSeals))
    throw Error(Kind::peer, "a peer's memory is not sealed against a change of size");
}

}  // namespace tide
